import ArgumentParser
import HandApp
import HandFormats
import HandScreens
import HandServer
import HandWire

struct Share: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "share", abstract: "Print links to one list: addresses that contain a token.",
        discussion: """
            Run it on the server's machine. The recipient opens the first link with 'hand open', or uses it as HAND_URL. If the \
            server has a page ('hand serve --web'), a second link opens in any browser, and a terminal shows it as a QR code, \
            too. 'hand token revoke' revokes both. The first link contains the server's address as others use it: --url, \
            $HAND_URL, the configuration file's, or else the address that the running server says, or its settings; the \
            second one contains --page, or else the address that the running server says.
            """)

    @Argument(help: "The list.", completion: Completions.lists) var list: String
    @Option(
        name: .customLong("as"),
        help: .init(
            "The name that others will see (default: guest and the token's id).", valueName: "name"))
    var name: String?
    @OptionGroup var grant: GrantOptions
    @Option(help: .init("The address at which others reach the server.", valueName: "address")) var url: String?
    @Option(
        help: .init(
            "The address at which browsers reach the server's page, such as https://lists.example.org.",
            valueName: "address"))
    var page: String?
    @OptionGroup var access: AccessOptions

    func validate() throws {
        try name.map(AccessOptions.check)
        // The link appends what the page needs behind a '#'.
        guard let page, page.wholeMatch(of: #/https?:\/\/[^\s#?]+/#) == nil else { return }
        throw ValidationError("--page '\(page)': expected the address of a page, such as https://lists.example.org")
    }

    func run() throws {
        let usual = try Settings.usual(url) ?? access.address
        if usual == nil, access.database.store != nil {
            throw Failure(
                .usage,
                "at which address do others reach the servers? Name it with --url, such as hands://lists.example.org")
        }
        let named = try usual ?? Serve.sharedAddress(try ServeLayers([]))
        let address = try Settings.place(flag: named, list: list)
        if let problem = ListName.problem(with: list) { throw Failure(.usage, problem) }
        let page = page ?? access.page
        var code: String?
        try access.add(try name?.filled("the name of --as"), grant, on: [list]) {
            "token \($0.id); \(page == nil ? "this link gives" : "these links give") the role '\(grant.role.rawValue)' "
                + "on '\(list)':"
        } _: { secret in
            code = page.map { Self.link(to: list, secret, on: $0) }
            return [("link", "\(address.server)/\(HandAddress.escaped(list))#\(secret)")]
                + (code.map { [("page", $0)] } ?? [])
        }
        if named == nil {
            access.result.say(
                "no running server says its address: the link has the usual one. For another, revoke the token and "
                    + "give --url"
            )
        }
        if let code, Output.isTerminal, !access.json { Self.show(code) }
    }

    /// The link for browsers. What stands behind the `#` is sent to no server.
    private static func link(to list: String, _ secret: String, on page: String) -> String {
        let place = page.hasSuffix("/") ? page : page + "/"
        return "\(place)#list=\(HandAddress.escaped(list))&token=\(HandAddress.escaped(secret))"
    }

    /// Draws a text as a QR code, dark on light where the terminal has colours.
    private static func show(_ text: String) {
        guard let code = QREncoder.code(for: text) else { return }
        for line in code.lines(hasColors: false) {
            Output.line(Output.marks == .colored ? "\u{1B}[97;40m\(line.text)\u{1B}[0m" : "\(line.text)")
        }
    }
}
