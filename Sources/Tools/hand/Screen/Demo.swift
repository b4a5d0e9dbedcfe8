import ArgumentParser
import Disk
import Dispatch
import EventLoop
import FoundationEssentials
import HandApp
import HandClient
import HandFormats
import HandScreens
import HandServer
import HandStore
import HandWire
import Logging

struct Demo: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Try hand: a list in full screen that a scripted person edits with you.",
        discussion: """
            Starts a server in memory and opens a sample list, which a scripted second person edits with you. Nothing is \
            stored. ? shows all keys, Q quits.
            """)

    @Flag(help: "Leave the mouse to the terminal, so that it selects text as usual.") var noMouse = false

    func run() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hand-demo-\(UUID().uuidString)")
            .path
        try PrivateFile.makeFolder(folder)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let socket = folder + "/hand.sock"
        try serve(folder, socket)
        let server = HandAddress.Server.unix(path: socket)
        let guest = try HandClient(
            ClientConfiguration(server: server, person: DemoGuest.name, program: "hand/\(HandCommand.version)"))
        let start = Start()
        let playing = Task {
            var script = DemoGuest(seed: .random(in: 0...UInt64.max))
            do { try await script.prepare(on: guest) } catch { start.error = error }
            start.ready.signal()
            try await script.play(on: guest)
        }
        defer { playing.cancel() }
        try start.wait()
        let person = try Settings.person(flag: nil)
        try Screens.run(
            Location(server: server, route: .list(DemoGuest.list)), named: "the demo", person: person,
            hasMouse: !noMouse
        ) { place in
            let configuration = ClientConfiguration(
                server: place.server, person: person, program: "hand/\(HandCommand.version)")
            return (configuration, nil)
        }
        Output.message("To have lists of your own: hand serve, and in another terminal: hand create groceries")
    }

    /// Starts a server on its own thread; it runs until the program ends.
    private func serve(_ folder: String, _ socket: String) throws {
        let start = Start()
        Threads.start("hand server") {
            do {
                let loop = try Loop()
                let server = Server(
                    ServerConfiguration(
                        endpoints: [.unix(socket)], limits: Limits(), program: "hand/\(HandCommand.version)",
                        seed: .random(in: 0...UInt64.max)),
                    store: MemoryStore(), loop: loop, logger: Logger(label: "hand") { _ in SwiftLogNoOpLogHandler() })
                _ = try server.start()
                start.ready.signal()
                loop.run()
            } catch {
                start.error = error
                start.ready.signal()
            }
        }
        try start.wait()
    }

    /// `@unchecked Sendable` is safe: `error` is written before the semaphore is signaled and read after the wait.
    private final class Start: @unchecked Sendable {
        let ready = DispatchSemaphore(value: 0)
        var error: (any Error)?

        func wait() throws {
            ready.wait()
            if let error { throw error }
        }
    }
}
