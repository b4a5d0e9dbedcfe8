import EventLoop

/// A page that takes work to make. The page is made at most every 100 milliseconds, however many requests arrive: the
/// requests in between wait, and share the next page. So nobody gets a page that is older than the request.
package final class PacedPage {
    private let loop: Loop
    private let make: () -> HTTPEndpoint.Page
    private let timer: Timer
    private var waiting: [(HTTPEndpoint.Page) -> Void] = []
    /// When the next page may be made.
    private var due: UInt64 = 0

    private static let interval: UInt64 = 100
    /// If this many requests wait, the page is made at once, so that the requests do not take all connections of an
    /// endpoint.
    private static let maxWaiting = 64

    package init(_ loop: Loop, _ make: @escaping () -> HTTPEndpoint.Page) {
        (self.loop, self.make) = (loop, make)
        timer = Timer(loop)
    }

    package func answer(_ page: @escaping (HTTPEndpoint.Page) -> Void) {
        waiting.append(page)
        if loop.now >= due || waiting.count >= Self.maxWaiting { return deliver() }
        if waiting.count == 1 { timer.start(after: due - loop.now) { [unowned self] in deliver() } }
    }

    private func deliver() {
        timer.stop()
        due = loop.now + Self.interval
        let (page, readers) = (make(), waiting)
        waiting = []
        for reader in readers { reader(page) }
    }

    package func close() { timer.close() }
}
