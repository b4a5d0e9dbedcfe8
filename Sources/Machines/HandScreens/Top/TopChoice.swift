import HandSync

/// The user's choices in `hand top`: the orders of both tables, the filter, and the connection that may be closed.
/// `take` handles a key and returns what the program around must do.
package struct TopChoice: Equatable, Sendable {
    /// The orders of the lists, named by the heads of the columns.
    package enum ListOrder: String, CaseIterable, Sendable {
        /// The server's order.
        case unsorted
        case rate = "commits/s"
        case items, revision, followers, waiting, name
    }

    package enum ConnectionOrder: String, CaseIterable, Sendable {
        case behind
        case notTaken = "not taken"
        case silent, name
    }

    package enum Wish: Equatable, Sendable {
        case quit, redraw, suspend
        case close(UInt64)
    }

    var listOrder = ListOrder.unsorted
    var connectionOrder = ConnectionOrder.behind
    var query = LineEditor()
    var isTyping = false
    var chosen: UInt64?
    /// The connection to close if the user confirms.
    var closing: UInt64?

    package init() {}

    /// - Parameter connections: the visible connections, in their order.
    package mutating func take(_ key: Key, among connections: [ConnectionReport]) -> Wish? {
        if let number = closing.take() { return key == Key(.character("y")) ? .close(number) : nil }
        return isTyping ? type(key) : press(key, among: connections)
    }

    private mutating func type(_ key: Key) -> Wish? {
        switch key {
        case Key(.enter): isTyping = false
        case Key(.escape), .control("c"): (isTyping, query) = (false, LineEditor())
        default: _ = query.handle(key)
        }
        return nil
    }

    private mutating func press(_ key: Key, among connections: [ConnectionReport]) -> Wish? {
        switch key {
        case Key(.character("q")), .control("c"): return .quit
        case Key(.escape):
            if query.text.isEmpty, chosen == nil { return .quit }
            (query, chosen) = (LineEditor(), nil)
        case .control("l"): return .redraw
        case .control("z"): return .suspend
        case Key(.character("/")): isTyping = true
        case Key(.character("s")): listOrder = Self.next(after: listOrder)
        case Key(.character("S")): connectionOrder = Self.next(after: connectionOrder)
        case Key(.down), Key(.character("j")): step(1, among: connections)
        case Key(.up), Key(.character("k")): step(-1, among: connections)
        case Key(.character("x")): closing = connections.first { $0.number == chosen }?.number
        default: break
        }
        return nil
    }

    private static func next<Order: CaseIterable & Equatable>(after order: Order) -> Order {
        let all = Array(Order.allCases)
        return all[((all.firstIndex(of: order) ?? 0) + 1) % all.count]
    }

    private mutating func step(_ step: Int, among connections: [ConnectionReport]) {
        guard !connections.isEmpty else { return }
        let place = connections.firstIndex { $0.number == chosen }
        let next = place.map { min(max(0, $0 + step), connections.count - 1) } ?? 0
        chosen = connections[next].number
    }
}
