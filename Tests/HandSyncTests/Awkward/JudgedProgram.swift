import HandCore
import HandSimulation
import HandSync
import HandWire

/// A program that says what a test says, to a server and to its judge.
final class JudgedProgram {
    private let world: TestWorld
    private let awkwardness: Awkwardness
    private let client: ClientID
    private var stream: TestStream?
    private var id = 0
    private var read = 0

    init(_ world: TestWorld, _ awkwardness: Awkwardness, _ client: ClientID) {
        (self.world, self.awkwardness, self.client) = (world, awkwardness, client)
    }

    func connect() {
        stream = TestStream(world)
        (id, read) = (awkwardness.judge.connected(now: world.now), 0)
        say(.hello(.init(client: client, person: "Ann", program: "judged")))
    }

    /// - Parameter isLost: whether the server does not get the message.
    func say(_ message: UpMessage, isLost: Bool = false) {
        message.frame.withUnsafeBytes { awkwardness.judge.received($0, on: id, now: world.now) }
        if !isLost { stream?.say(message) }
    }

    /// Returns what has arrived since.
    func hear() -> [DownMessage] {
        let heard = Array((stream?.heard ?? []).dropFirst(read))
        read += heard.count
        for message in heard {
            message.frame.withUnsafeBytes { awkwardness.judge.sent($0, on: id, now: world.now) }
        }
        return heard
    }

    func leave() {
        awkwardness.judge.ended(id, isLeft: true, now: world.now)
        stream?.end()
        stream = nil
    }
}
