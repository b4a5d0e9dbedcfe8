import EventLoop
import Glibc
import HandApp
import HandClient
import HandCore
import HandFormats
import HandScreens
import HandTestSupport
import Testing

/// A person who uses the screens, with links between two servers. Keys come from the test, which also sees the screen.
private final class ScreenUser: Screenful {
    private let loop: Loop
    private var lines: [String] = []
    private let tick: Timer
    private var runner: Runner?
    private var isClosed = false

    /// - Parameter folder: for the journals, one for each server.
    init(at server: RunningServer, list: String, journals folder: TemporaryFolder) throws {
        let connect: Runner.Connect = { location in
            let name = "\(location.server)".filter { $0.isLetter || $0.isNumber }
            let configuration = ClientConfiguration(
                server: location.server, person: "ada", program: "test", journalPath: "\(folder.path)/\(name)")
            return (configuration, try configuration.openJournal())
        }
        loop = try Loop()
        tick = Timer(loop)
        tick.start(after: 5, repeating: 5) {}
        let first = Location(server: server.address, route: .list(list))
        let settings = AppState.Settings(
            server: first.server, person: "ada", size: Size(rows: 20, columns: 80), seed: 1)
        runner = Runner(
            settings, opening: first.route, on: loop, screen: self, at: try connect(first), connect: connect)
        runner?.start()
    }

    func press(_ keys: String...) throws { for key in keys { runner?.take(.key(try Key(key))) } }

    func type(_ text: String) { for character in text { runner?.take(.key(Key(.character(character)))) } }

    /// Lets the loop run until a line of the screen contains the text.
    func sees(_ text: String, within timeout: Duration = .seconds(60)) -> Bool {
        let end = ContinuousClock.now + timeout
        while !lines.contains(where: { $0.contains(text) }) {
            if ContinuousClock.now > end { return false }
            _ = loop.runOnce()
        }
        return true
    }

    /// Presses the key that quits, and lets the loop run until the program has ended.
    func quit() throws {
        try press("Q")
        while !isClosed { _ = loop.runOnce() }
    }

    /// Leaves, as at the end of the program. Returns why edits are lost, if any are.
    func leave() -> String? {
        runner?.close()
        tick.close()
        loop.run()
        loop.close()
        return runner?.loss
    }

    /// What the program says at its end.
    var note: String? { runner?.note }

    func draw(_ canvas: Canvas) { lines = canvas.lines }
    func redraw() {}
    func suspend() {}
    func handOver() {}
    func takeBack() {}
    func bell() {}
    func notify(_ text: String) {}
    func close() { isClosed = true }
}

@Suite struct RunnerTests {
    private let one: RunningServer
    private let two: RunningServer
    private let journals: TemporaryFolder

    /// Makes a list on each of two servers, with a link to the other one.
    init() throws {
        (one, two) = (try RunningServer(try TemporaryFolder()), try RunningServer(try TemporaryFolder()))
        journals = try TemporaryFolder()
        for (server, other) in [(one, two), (two, one)] {
            let name = server === one ? "one" : "two"
            let user = CommandUser("ben", at: server)
            try user.hand("create", name)
            let link = "hand+unix://\(other.socket)/\(server === one ? "two" : "one")"
            try user.hand("add", "there", "--link", link, "-l", name)
        }
    }

    /// Somebody follows links to another server and back, and adds an item on each visit.
    @Test(.timeLimit(.minutes(5))) func itemsAreAddedOnEachVisitToAServer() throws {
        let user = try ScreenUser(at: one, list: "one", journals: journals)
        #expect(user.sees("one r1"))
        for visit in 1...3 {
            try user.press("a")
            user.type("item \(visit)")
            // At once: the edit is on its way to the journal.
            try user.press("enter", "esc", "g", "g", "ctrl-o")
            #expect(user.sees("two r1"))
            try user.press("ctrl-o")
            #expect(user.sees("one r\(visit + 1)"))
        }
        #expect(user.leave() == nil)
        #expect(one.terminate() == 0)
        #expect(try one.stored("one").hand.map(\.content.text).sorted() == ["item 1", "item 2", "item 3", "there"])
    }

    /// A message disappears although nothing else happens.
    @Test(.timeLimit(.minutes(5))) func aMessageDisappears() throws {
        let user = try ScreenUser(at: one, list: "one", journals: journals)
        #expect(user.sees("one r1"))
        try user.press("y")
        #expect(user.sees("copied"))
        #expect(user.sees("o add"))
        #expect(user.leave() == nil)
    }

    /// An edit that is made at the last moment is still sent; without an answer, quitting takes a second.
    @Test(.timeLimit(.minutes(5)), arguments: [false, true]) func theLastEditIsSent(isStopped: Bool) throws {
        let user = try ScreenUser(at: one, list: "one", journals: journals)
        #expect(user.sees("one r1"))
        if isStopped { one.signal(SIGSTOP) }
        try user.press("a")
        user.type("at last")
        try user.press("enter", "esc")
        try user.quit()
        #expect(user.leave() == nil)
        if isStopped { one.signal(SIGCONT) }
        #expect(user.note == (isStopped ? "1 edit of yours waits to be sent; 'hand sync' sends it" : nil))
        #expect(one.terminate() == 0)
        #expect(try isStopped || one.stored("one").hand.map(\.content.text).contains("at last"))
    }

    /// What is being typed when the other server's journal is open stays on the screen, and the way goes on afterwards.
    @Test(.timeLimit(.minutes(5))) func nothingTypedIsLostOnTheWayToAnotherServer() throws {
        let user = try ScreenUser(at: one, list: "one", journals: journals)
        #expect(user.sees("one r1"))
        try user.press("ctrl-o", "a")
        user.type("not yet")
        #expect(user.sees("not yet") && !user.sees("two r1", within: .milliseconds(300)))
        user.type(" done")
        try user.press("enter", "esc")
        #expect(user.sees("two r1"))
        // What was not sent before is sent on the way back.
        try user.press("ctrl-o")
        #expect(user.sees("one r2"))
        #expect(user.leave() == nil)
        #expect(one.terminate() == 0)
        #expect(try one.stored("one").hand.map(\.content.text).contains("not yet done"))
    }
}
