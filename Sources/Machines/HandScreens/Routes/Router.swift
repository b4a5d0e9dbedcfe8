/// The stack of screens. The topmost screen is visible. The stack is never empty.
package struct Router: Sendable {
    package private(set) var stack: [any Screen]

    /// Opens a place directly, with the places beneath it.
    package init(opening route: Route) {
        var routes = [route]
        while let beneath = routes[0].beneath { routes.insert(beneath, at: 0) }
        stack = routes.reduce(into: []) { $0.append($1.screen(over: $0.last)) }
        // On the screen of lists, the cursor is on the opened list.
        if stack.count > 1, let list = route.list { stack[0] = ListsScreen(at: list) }
    }

    package var top: any Screen {
        get { stack[stack.count - 1] }
        set { stack[stack.count - 1] = newValue }
    }

    /// Opens the screen of a place on top. If the stack has the place already, goes back to it.
    package mutating func open(_ route: Route) {
        if let index = stack.firstIndex(where: { $0.route == route }) {
            stack.removeSubrange((index + 1)...)
        } else {
            stack.append(route.screen(over: top))
        }
    }

    /// Removes the topmost screen. Returns false, and keeps the screen, if it is the only one.
    package mutating func back() -> Bool {
        guard stack.count > 1 else { return false }
        stack.removeLast()
        return true
    }

    /// Replaces the topmost screen with the screen of another place.
    package mutating func replaceTop(by route: Route) {
        top = route.screen(over: stack.dropLast().last)
    }

    /// Changes every screen, including hidden ones.
    mutating func updateAll(_ body: (inout any Screen) -> Void) {
        for index in stack.indices { body(&stack[index]) }
    }
}

extension Route {
    /// Makes the screen of a place, on top of another screen.
    func screen(over beneath: (any Screen)?) -> any Screen {
        switch self {
        case .lists: ListsScreen()
        case .list(let name): ListScreen(list: name)
        case .item(let list, let id): ItemScreen(list: list, id: id)
        case .history(let list): HistoryScreen(list: list)
        case .revision(let list, let revision): RevisionScreen(list: list, revision: revision)
        case .people(let list): PeopleScreen(list: list)
        case .notices(let list): NoticesScreen(list: list)
        case .share(let list): ShareScreen(list: list)
        case .help: HelpScreen(subject: beneath?.route.kind ?? .lists)
        case .connection: ConnectionScreen()
        case .nowhere(let path): NowhereScreen(path: path)
        }
    }
}
