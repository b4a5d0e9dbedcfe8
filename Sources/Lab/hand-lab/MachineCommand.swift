import ArgumentParser
import FoundationEssentials
import HandCore
import HandSimulation
import HandSync
import HandWire

struct MachineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "machine",
        abstract: "Run the server without clock, sockets and files, for simulators of other clients.",
        discussion: """
            Reads events from standard input, a line each, and writes what the server does. TIME is in milliseconds; a \
            CONNECTION is a number of your choice; BYTES are in Base64.

              begin SEED TIME                 a new server with an empty store
              connect CONNECTION TIME         a client connects
              receive CONNECTION BYTES TIME   its bytes arrive
              lose CONNECTION TIME            the connection is lost
              tick TIME                       time has passed

            After each event: a line "send CONNECTION BYTES" for what the server sends, "close CONNECTION" for the end of what \
            it sends, and at last "until TIME", when the next "tick" is due. The same events always have the same answers.
            """)

    func run() throws {
        var server = HostedMachine(seed: 1, now: 0)
        var number = 0
        while let line = readLine() {
            number += 1
            var words = line.split(separator: " ")[...]
            guard let event = words.popFirst(), let now = words.popLast().flatMap({ UInt64($0) }) else {
                throw Self.invalid(number, line)
            }
            let subject = words.popFirst().flatMap { UInt64($0) }
            switch (event, subject) {
            case ("begin", let seed?): server = HostedMachine(seed: seed, now: now)
            case ("connect", let connection?): server.connect(connection, now: now)
            case ("receive", let connection?):
                guard let bytes = words.first.flatMap({ Data(base64Encoded: String($0)) }) else {
                    throw Self.invalid(number, line)
                }
                server.receive([UInt8](bytes), from: connection, now: now)
            case ("lose", let connection?): server.lose(connection, now: now)
            case ("tick", nil): server.tick(now: now)
            default: throw Self.invalid(number, line)
            }
            tell(server.takeOutput())
        }
    }

    private static func invalid(_ number: Int, _ line: String) -> ValidationError {
        ValidationError("line \(number): expected an event as in 'hand-lab help machine', found '\(line.prefix(80))'")
    }
}

/// A server machine with a store in memory, which answers at once.
private final class HostedMachine {
    private let machine: ServerMachine
    private let store = SimulatedStore()
    private var streams: [UInt64: HostedStream] = [:]
    private var output: [String] = []

    init(seed: UInt64, now: UInt64) {
        machine = ServerMachine(limits: Limits(), program: "hand-lab", seed: seed, at: Self.moment(now))
        turn(now)
    }

    func connect(_ number: UInt64, now: UInt64) {
        let stream = HostedStream(number) { [unowned self] in output.append($0) }
        streams[number] = stream
        stream.connection = machine.accepted(stream, at: Self.moment(now))
        turn(now)
    }

    func receive(_ bytes: [UInt8], from number: UInt64, now: UInt64) {
        guard let stream = streams[number], !stream.isClosed else { return }
        stream.unread.append(bytes)
        turn(now)
    }

    func lose(_ number: UInt64, now: UInt64) {
        guard let stream = streams.removeValue(forKey: number), !stream.isClosed, let connection = stream.connection
        else { return }
        machine.ended(connection, reason: "connection reset by peer", at: Self.moment(now))
        turn(now)
    }

    func tick(now: UInt64) {
        if now >= machine.deadline { machine.timeout(at: Self.moment(now)) }
        turn(now)
    }

    /// The lines that answer the last event.
    func takeOutput() -> String {
        defer { output = [] }
        return (output + ["until \(machine.deadline)"]).joined(separator: "\n")
    }

    /// Gives the machine what it may read, and carries out what it wants, until nothing is left to do.
    private func turn(_ now: UInt64) {
        let time = Self.moment(now)
        var hasMore = false
        repeat {
            for stream in streams.values.sorted(by: { $0.number < $1.number }) {
                while let bytes = stream.read(), let connection = stream.connection {
                    bytes.withUnsafeBytes { machine.received($0, from: connection, at: time) }
                }
            }
            hasMore = machine.endTurn(at: time)
            while let effect = machine.nextEffect() {
                carryOut(effect, at: time)
                hasMore = true
            }
        } while hasMore
        streams = streams.filter { !$0.value.isClosed }
    }

    private func carryOut(_ effect: ServerMachine.Effect, at time: Moment) {
        switch effect {
        case .ask(let request): machine.finished(request.run(on: store), at: time)
        case .compute(let computation): machine.finished(computation.run(), at: time)
        case .identify(let hello, let connection):
            let grant = Grant(access: .everything, user: nil)
            machine.identified(connection, saying: hello, as: grant, at: time)
        case .called: machine.accessChanged(at: time) { _, _ in .everything }
        case .tell, .note: break
        case .end(let error): preconditionFailure("a store in memory has failed: \(error)")
        }
    }

    private static func moment(_ now: UInt64) -> Moment { Moment(now: now, wallClock: 1_800_000_000_000 + now) }
}

/// A connection whose client reads everything at once.
private final class HostedStream: ByteStream {
    let number: UInt64
    var connection: Connection?
    var unread: [[UInt8]] = []
    private(set) var isClosed = false
    private var isPaused = false
    /// Whether the client was told that nothing more comes.
    private var hasEnded = false
    private let tell: (String) -> Void

    init(_ number: UInt64, tell: @escaping (String) -> Void) { (self.number, self.tell) = (number, tell) }

    /// The next bytes, if the machine reads.
    func read() -> [UInt8]? { isPaused || isClosed || unread.isEmpty ? nil : unread.removeFirst() }

    var peerDescription: String { "client \(number)" }
    var isWriting: Bool { false }

    func write(_ runs: [FrameRun]) -> Bool {
        for run in runs where !hasEnded { tell("send \(number) \(Data(run.bytes).base64EncodedString())") }
        return true
    }

    func stopReading() { isPaused = true }
    func resumeReading() { isPaused = false }

    func shutdown(because code: ErrorCode) {
        if !hasEnded { tell("close \(number)") }
        hasEnded = true
    }

    func close() {
        if !hasEnded { tell("close \(number)") }
        (hasEnded, isClosed) = (true, true)
    }
}
