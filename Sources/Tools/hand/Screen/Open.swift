import ArgumentParser
import EventLoop
import Glibc
import HandApp
import HandClient
import HandFormats
import HandScreens
import HandSync

extension Terminal: Screenful {}

struct Open: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open", abstract: "Open lists in full screen.",
        discussion: """
            Keys: arrows or j k to move, o to add, e to edit, space to tick, d to delete, u to undo, / to find, tab to make \
            a sub-item, z to fold sub-items away, ? for all keys, q to go back. While you type a text, alt-enter breaks the line, and ctrl-o opens the text in your editor \
            ($VISUAL or $EDITOR, or else the system's editor, nano or vi). When the server cannot be reached, it opens this \
            machine's copy, and edits wait on disk until the server is back.

            Any place can be opened directly: hand open hand://HOST:PORT/LIST/items/ID, or .../LIST/history/REVISION.
            """)

    @Argument(
        help: "A list, or the address of any place in one (default: the lists of the server).",
        completion: Completions.lists)
    var place: String?

    @OptionGroup var user: UserOptions
    @Flag(help: "Leave the mouse to the terminal, so that it selects text as usual.") var noMouse = false

    /// The place to open: an address, a list on the configured server, or the configured address.
    private func location() throws -> Location {
        if let place, place.contains("://") { return try Location(place) }
        if let url = user.url { return try with(place, Location(url)) }
        let usual = try Settings.place(flag: nil, list: nil)
        return try with(place, Location(server: usual.server, route: usual.list.map { .list($0) } ?? .lists))
    }

    private func with(_ list: String?, _ location: Location) throws -> Location {
        guard let list else { return location }
        let path = list.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
        return Location(server: location.server, route: Route(path: path))
    }

    func run() async throws {
        let person = try user.name()
        let location = try location()
        let address = try place.flatMap { $0.contains("://") ? $0 : nil } ?? Settings.usual(user.url)
        let given = address.flatMap { HandAddress.token(in: $0) }
        try Screens.run(location, person: person, hasMouse: !noMouse) { place in
            let token = try Settings.token(for: place.server, in: place.server == location.server ? given : nil)
            let address = HandAddress(server: place.server, list: place.route.list, token: token)
            do { return try Identity.journal(at: address, person: person) } catch let error as StoreError {
                guard error.isOfDisk else { throw error }
                throw Failure(
                    .error,
                    "\(Failure(error).sentence) Your edits are kept there until the server has them: set $XDG_STATE_HOME to "
                        + "a folder that you may write")
            }
        }
    }
}

/// Runs the screens on this terminal until the user leaves.
enum Screens {
    static func run(
        _ location: Location, named name: String? = nil, person: String, hasMouse: Bool,
        connect: @escaping Runner.Connect
    ) throws {
        // Everything that can fail comes before the screens take over the terminal.
        let (keys, notices) = (try Settings.keys(), try Settings.notices())
        let first = try connect(location)
        let loop = try Loop()
        let hasColors = !Terminal.colorsAreRefused
        var take: (Input) -> Void = { _ in }
        let terminal = try Terminal(
            loop, hasColors: hasColors, hasMouse: hasMouse, hasFocus: notices != .off
        ) { take($0) }
        do {
            var settings = AppState.Settings(
                server: location.server, person: person, size: terminal.size,
                keys: keys, hasColors: hasColors, seed: .random(in: 0...UInt64.max))
            settings.serverNames[location.server] = name
            settings.notices = notices
            settings.code = QREncoder.code
            let runner = Runner(
                settings, opening: location.route, on: loop, screen: terminal, at: first, connect: connect)
            take = { runner.take($0) }
            terminal.onEnd = { runner.close() }
            var signals: [Signal] = []
            for number in [SIGTERM, SIGHUP] { signals.append(try Signal(loop, number) { runner.close() }) }
            signals.append(try Signal(loop, SIGINT) { runner.interrupt() })
            runner.start()
            loop.run()
            loop.close()
            if let note = runner.note { Output.message("\(note)") }
            if let loss = runner.loss { throw Failure(.error, loss) }
        } catch {
            terminal.close()
            throw error
        }
    }
}
