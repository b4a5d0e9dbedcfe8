import EventLoop
import Glibc
import HandApp
import HandCore
import HandScreens
import HandSync
import HandWire

/// From a key to the bytes on the terminal: before each key, somebody else's commit arrives. The key is handled, an
/// edit goes into the replica, and the screen is drawn through ncurses into a pseudo-terminal of 120×40.
struct KeyToScreen {
    private static let keys = [
        "j", "space", "J", "k", "pgdn", "e", "x", "enter", "v", "j", "d", "u", "o", "y", "esc", "5", "pgup",
    ]
    private static let rounds = 3_000
    private static let textSizes = [44, 1_100, 60_500]

    static func run(_ sizes: [Int]) {
        head("key to screen, a remote commit before each key, µs")
        for size in sizes {
            guard var bench = KeyToScreen(Edits.list(size)) else { return print("no pseudo-terminal is available") }
            tell("\(size) items", bench.measure(keys))
        }
        let outlines = [100, 100_000, 1_000_000]
        head("the same with everything folded but what the keys unfold, µs")
        for size in outlines {
            guard var bench = KeyToScreen(outline(size)) else { return }
            bench.press("Z")
            tell("\(size) items", bench.measure(keys + ["z", "k", "z", "j"]))
        }
        head("everything folded and unfolded, µs")
        for size in outlines {
            guard var bench = KeyToScreen(outline(size)) else { return }
            tell("\(size) items", bench.measure(["Z"], rounds: 30))
        }
        head("commit of the text that is being typed, key and screen, µs")
        for size in textSizes {
            let text = "0 " + String(repeating: "some words ", count: size / 11)
            let hand = Hand([Item(id: ItemID(rawValue: 1), content: .note(text))], rules: Rules(maximumSize: 1 << 20))
            guard var bench = KeyToScreen(hand) else { return }
            tell("\(size) bytes", bench.measureField())
        }
    }

    /// A list in which three of eight items have sub-items.
    private static func outline(_ size: Int) -> Hand {
        let levels: [UInt8] = [0, 1, 2, 2, 1, 2, 1, 1]
        let items = (0..<size).map { place -> Item in
            let content = Content.task("item \(place)", done: place % 3 == 0)
            return Item(id: ItemID(rawValue: UInt64(place) + 1), level: levels[place % 8], content: content)
        }
        return Hand(items)
    }

    private static func head(_ text: String) {
        print("\n" + text.padded(62) + ["p50", "p99", "max"].map { $0.leftPadded(8) }.joined())
    }

    private static func tell(_ name: String, _ nanoseconds: [Double]) {
        let times = nanoseconds.sorted()
        let cells = [times[times.count / 2], times[times.count * 99 / 100], times[times.count - 1]]
        print(name.padded(62) + cells.map { String(Int($0 / 1_000)).leftPadded(8) }.joined())
    }

    private var app: App
    private var replica: Replica
    private let terminal: Terminal
    private let loop: Loop
    private let master: Int32
    private var random = SplitMix64(seed: 11)
    private var now: UInt64 = 1_000

    private init?(_ list: Hand) {
        var (master, slave) = (Int32(0), Int32(0))
        var window = winsize(ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0)
        guard openpty(&master, &slave, nil, nil, &window) == 0 else { return nil }
        _ = fcntl(master, F_SETFL, O_NONBLOCK)
        guard let loop = try? Loop(),
            let terminal = try? Terminal(
                loop, hasColors: true, input: slave, output: slave, kind: "xterm-256color", onInput: { _ in })
        else { return nil }
        (self.master, self.loop, self.terminal) = (master, loop, terminal)
        app = App(
            AppState.Settings(
                server: .tcp(host: "host", port: 7777), person: "ada", size: terminal.size, seed: 3),
            opening: .list("list"))
        replica = Replica(confirmed: list, revision: 0, logID: 1, sequence: 0)
        replica.author = 1
        _ = app.start(now: now)
        send(.connection(.online))
        tell(Replica.Update())
        for key in ["\(list.count / 2)", "G"].joined() { press(String(key)) }
    }

    private mutating func measure(_ keys: [String], rounds: Int = Self.rounds) -> [Double] {
        var times: [Double] = []
        for round in 0..<rounds {
            now += 10
            remote(round)
            times.append(
                Stopwatch.nanoseconds {
                    press(keys[round % keys.count])
                    draw()
                })
            drain()
            confirm()
        }
        end()
        return times
    }

    /// Types in the middle of a text in which somebody else changes a word before each key.
    private mutating func measureField() -> [Double] {
        var times: [Double] = []
        for key in ["e", "pgup", "end"] { press(key) }
        for round in 1...Self.rounds / 10 {
            now += 10
            let content = replica.confirmed[0].content
            let delta = Delta.editing(at: 0, content.rewording("\(round)" + content.text.drop { $0 != " " }))
            times.append(
                Stopwatch.nanoseconds {
                    take(delta, author: 2, sequence: SequenceNumber(rawValue: UInt64(round)))
                    press(round % 7 == 0 ? "space" : "x")
                    draw()
                })
            drain()
        }
        press("enter")
        precondition(
            replica.view[0].content.text.contains("xx")
                && replica.view[0].content.text.hasPrefix("\(Self.rounds / 10) "))
        end()
        return times
    }

    private func end() {
        terminal.close()
        loop.run()
        loop.close()
        close(master)
    }

    /// Reads and discards the output to the terminal.
    private func drain() {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        while read(master, &bytes, bytes.count) > 0 {}
    }

    private mutating func press(_ text: String) {
        guard let key = try? Key(text) else { return }
        send(.input(.key(key)))
    }

    private mutating func send(_ event: Event) { carryOut(app.update(event, now: now)) }

    private mutating func draw() {
        carryOut(app.followChanges())
        terminal.draw(app.view())
    }

    private mutating func carryOut(_ commands: [Command]) {
        for command in commands {
            switch command {
            case .edit(_, let delta): change { Retraction(delta: try $0.edit(delta)) }
            case .undo: change { try $0.take(.undo) }
            default: break
            }
        }
    }

    private mutating func change(_ body: (inout Replica) throws -> Retraction?) {
        guard let made = try? body(&replica) else { return }
        tell(Replica.Update(made, in: replica.view))
    }

    private mutating func tell(_ update: Replica.Update) {
        send(.list("list", .changed(ListState(replica, isLoaded: true, isLive: true), update)))
    }

    /// Makes somebody else's edit near the visible items.
    private mutating func remote(_ round: Int) {
        let place = max(0, min(replica.confirmed.count - 2, replica.confirmed.count / 2 - 20 + random.next(below: 40)))
        let operation: Delta =
            switch round % 3 {
            case 0:
                .inserting(
                    [Item(id: .random(using: &random), content: .task("by somebody", done: false))], at: place, .after)
            case 1: .editing(at: place, replica.confirmed[place].content.rewording("changed by somebody \(round)"))
            default: .moving(place..<place + 1, to: max(0, place - 5), .after)
            }
        take(operation, author: 2, sequence: SequenceNumber(rawValue: UInt64(round + 1)))
    }

    private mutating func confirm() {
        while let submission = replica.takeSubmission(list: 1) {
            take(submission.delta, author: 1, sequence: submission.sequence)
        }
    }

    private mutating func take(_ delta: Delta, author: AuthorID, sequence: SequenceNumber) {
        guard let after = try? replica.confirmed.applying(delta) else { return }
        let commit = Commit(
            revision: replica.revision + 1, author: author, sequence: sequence, base: replica.revision, time: 0,
            count: after.count, digest: after.digest, delta: delta)
        guard let update = try? replica.receive(commit) else { return }
        tell(update)
    }
}
