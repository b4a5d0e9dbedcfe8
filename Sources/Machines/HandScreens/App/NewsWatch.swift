/// Notes what the user sees of the news of lists, and what to remember of it for the next run.
struct NewsWatch: Sendable {
    /// The list whose screens were shown last; nil if others were.
    private var list: String?

    /// Notes what is on a screen. Returns what to remember of a list that the user has left.
    ///
    /// - Parameter isActive: whether the user has just done something.
    mutating func look(at screen: any Screen, isActive: Bool, _ app: inout AppState) -> [Command] {
        let commands = screen.route.list == list ? [] : leave(&app)
        list = screen.route.list
        if let screen = screen as? ListScreen, !app.list(screen.list).news.isEmpty {
            let (items, cursor) = (screen.visibleItems(app), screen.current(app)?.id)
            app.withList(screen.list) { [now = app.now] in
                $0.look(at: items, cursor: cursor, isActive: isActive, now: now)
            }
        }
        return commands
    }

    /// The user leaves the list. Returns what to remember of it.
    mutating func leave(_ app: inout AppState) -> [Command] {
        guard let name = list.take(), app.lists[name] != nil, let seen = app.withList(name, { $0.leave() }),
            seen != app.seen?[name]
        else { return [] }
        app.seen?[name] = seen
        return [.keepSeen(list: name, seen)]
    }

    mutating func renamed(_ old: String, to name: String) {
        if list == old { list = name }
    }
}
