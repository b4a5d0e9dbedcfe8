import HandScreens

/// The screen that the client draws on: a terminal, or a substitute in tests and measurements.
package protocol Screenful: AnyObject {
    func draw(_ canvas: Canvas)
    func redraw()
    func suspend()
    /// Leaves the terminal to another program, until `takeBack`.
    func handOver()
    func takeBack()
    func bell()
    /// Tells a user who looks at another window.
    func notify(_ text: String)
    func close()
}
