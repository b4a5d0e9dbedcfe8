import HandFormats
import HandScreens
import Testing

@Suite struct RouteTests {
    static let routes: [(String, Route)] = [
        ("/", .lists), ("/groceries", .list("groceries")),
        ("/groceries/items/k3f9", .item(list: "groceries", id: "k3f9")),
        ("/groceries/history", .history("groceries")), ("/groceries/history/812", .revision(list: "groceries", 812)),
        ("/groceries/people", .people("groceries")), ("/groceries/notices", .notices("groceries")),
        ("/groceries/share", .share("groceries")), ("/-/help", .help),
        ("/-/connection", .connection), ("/groceries/nonsense", .nowhere("/groceries/nonsense")),
        ("/groceries/history/-1", .nowhere("/groceries/history/-1")), ("/-/x", .nowhere("/-/x")),
    ]

    @Test(arguments: routes)
    func pathIsRoute(_ path: String, _ route: Route) throws {
        let tcp = try Location("hand://host:7777\(path)")
        #expect(tcp == Location(server: .tcp(host: "host", port: 7777), route: route))
        #expect(try Location("hand+unix:///run/hand.sock\(path)").route == route)
        #expect(route.path == path)
        #expect(tcp.description == "hand://host:7777\(path)")
    }

    @Test(arguments: ["http://host/x", "groceries", "hand:///x", "hand+unix:///x/y", "hand://host:99999/"])
    func invalidPlacesAreExplained(_ text: String) {
        #expect(throws: HandAddress.ParseError.self) { try Location(text) }
    }

    /// Every place opens directly, with the places beneath it.
    @Test(arguments: routes.map(\.1))
    func anyPlaceOpensWithItsStack(_ route: Route) {
        let router = Router(opening: route)
        #expect(router.top.route == route)
        #expect(router.stack[0].route == .lists)
        for (below, above) in zip(router.stack, router.stack.dropFirst()) {
            #expect(above.route.beneath == below.route)
        }
    }

    @Test func placesInTheStackAreReturnedTo() {
        var router = Router(opening: .item(list: "a", id: "k3f9"))
        router.open(.history("a"))
        #expect(router.stack.count == 4)
        router.open(.list("a"))
        #expect(router.stack.map(\.route) == [.lists, .list("a")])
        let (first, second) = (router.back(), router.back())
        #expect(first && !second)
    }

    @Test func linksOpenScreensServersAndTheWeb() {
        func commands(_ url: String) -> [Command] {
            var stage = KeyTests.stage(">a")
            stage.press("o tab tab tab 'x' enter esc E ctrl-u '\(url)' enter ctrl-o")
            return stage.commands
        }
        #expect(commands("https://example.org/x").last == .openAddress("https://example.org/x"))
        #expect(
            commands("hand://other:7777/b").last
                == .visit(Location(server: .tcp(host: "other", port: 7777), route: .list("b"))))
        #expect(commands("hand://host:7777/b").contains(.follow("b")))
        let mail = "mailto:a@b?Subject=c&attach=/etc/passwd&%61ttach=/d&body=e"
        #expect(commands(mail).last == .openAddress("mailto:a@b?Subject=c&body=e"))
        #expect(commands("mailto:a@b?attach=/c").last == .openAddress("mailto:a@b"))
        #expect(!commands("file:///etc/passwd").contains { if case .openAddress = $0 { true } else { false } })
    }
}
