import HandFormats
import HandWire

/// A place in the client, as the path of a URL. Any place can be opened directly, with the places beneath it.
///
///     hand://host:7777/                          the lists
///     hand://host:7777/groceries                 one list
///     hand://host:7777/groceries/items/k3f9      one item, by the first characters of its id
///     hand://host:7777/groceries/history         its commits
///     hand://host:7777/groceries/history/812     the list as it was at a revision
///     hand://host:7777/groceries/people          who is on the list
///     hand://host:7777/groceries/notices         what others or the server did to the user's edits
///     hand://host:7777/groceries/share           how others come to the list
///     hand://host:7777/-/help, /-/connection     about the program
package enum Route: Hashable, Sendable {
    case lists
    case list(String)
    case item(list: String, id: String)
    case history(String)
    case revision(list: String, Int)
    case people(String)
    case notices(String)
    case share(String)
    case help
    case connection
    /// A path that does not name a place.
    case nowhere(String)

    package init(path: [String]) {
        let whole = Route.nowhere("/" + path.joined(separator: "/"))
        switch (path.count, path.first) {
        case (0, _): self = .lists
        case (2, "-"): self = path[1] == "help" ? .help : path[1] == "connection" ? .connection : whole
        case (_, let list?) where ListName.problem(with: list) == nil:
            self = Self.within(ListName.composed(list), Array(path.dropFirst())) ?? whole
        default: self = whole
        }
    }

    private static func within(_ list: String, _ rest: [String]) -> Route? {
        switch (rest.count, rest.first) {
        case (0, _): .list(list)
        case (1, "history"): .history(list)
        case (1, "people"): .people(list)
        case (1, "notices"): .notices(list)
        case (1, "share"): .share(list)
        case (2, "items"): .item(list: list, id: rest[1].lowercased())
        case (2, "history"): Int(rest[1]).flatMap { $0 >= 0 ? .revision(list: list, $0) : nil }
        default: nil
        }
    }

    package var path: String {
        switch self {
        case .lists: "/"
        case .list(let name): "/\(name)"
        case .item(let list, let id): "/\(list)/items/\(id)"
        case .history(let list): "/\(list)/history"
        case .revision(let list, let revision): "/\(list)/history/\(revision)"
        case .people(let list): "/\(list)/people"
        case .notices(let list): "/\(list)/notices"
        case .share(let list): "/\(list)/share"
        case .help: "/-/help"
        case .connection: "/-/connection"
        case .nowhere(let path): path
        }
    }

    package var kind: ScreenKind {
        switch self {
        case .lists: .lists
        case .list: .list
        case .item: .item
        case .history: .history
        case .revision: .revision
        case .people: .people
        case .notices: .notices
        case .share: .share
        case .help: .help
        case .connection: .connection
        case .nowhere: .nowhere
        }
    }

    /// The place to go back to from here; nil for the lowest place.
    package var beneath: Route? {
        switch self {
        case .lists: nil
        case .list, .help, .connection, .nowhere: .lists
        case .item(let list, _), .history(let list), .people(let list), .notices(let list), .share(let list):
            .list(list)
        case .revision(let list, _): .history(list)
        }
    }

    /// The list that the place belongs to.
    package var list: String? {
        switch self {
        case .list(let name), .history(let name), .people(let name), .notices(let name), .share(let name): name
        case .item(let list, _), .revision(let list, _): list
        default: nil
        }
    }
}

/// A place on a server: what a URL names.
package struct Location: Hashable, Sendable {
    package var server: HandAddress.Server
    package var route: Route

    package init(server: HandAddress.Server, route: Route) {
        self.server = server
        self.route = route
    }

    /// - Throws: `HandAddress.ParseError` if `url` is not the URL of a server. A path that leads nowhere becomes
    ///   `Route.nowhere`.
    package init(_ url: String) throws {
        let (server, path) = try HandAddress.parts(of: url)
        self.init(server: server, route: Route(path: path))
    }
}

extension Location: CustomStringConvertible {
    package var description: String { "\(server)\(HandAddress.escaped(route.path, keeping: "/"))" }
}
