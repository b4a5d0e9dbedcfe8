import HandCore
import HandSync
import HandTestSupport
import HandWire

/// A server of one list without sockets, disk and clock: as much as the session in `Protocol.md` needs, made of the
/// same machines as the real one.
final class SmallServer {
    private struct Connection {
        var session: ServerSession
        var author: AuthorID = 0
        var request: RequestNumber = 0
        /// The revision up to which commits were sent, or nil if not subscribed.
        var cursor: Int?
        /// Frames that the client has not received yet.
        var outbox: [[UInt8]] = []
    }

    private var connections: [String: Connection] = [:]
    private var authors: [ClientID: AuthorID] = [:]
    private var authority: Authority?
    private var name = ""
    /// Advances by one second with each commit.
    private var clock: UInt64 = 1_767_225_600_000

    var hand: Hand? { authority?.hand }

    /// Receives one frame from that client.
    func receive(_ frame: [UInt8], from client: String) {
        let now: UInt64 = 0
        var connection =
            connections[client]
            ?? Connection(session: ServerSession(.init(limits: Limits(), program: "hand 1.0"), now: now))
        var effects = connection.session.effects(of: frame, now: now)
        if case .identify(let hello) = effects.first {
            let author = authors[hello.client] ?? AuthorID(authors.count + 1)
            authors[hello.client] = author
            connection.author = author
            effects = connection.session.welcome(author: author, now: now)
        }
        connections[client] = connection
        for effect in effects { carryOut(effect, for: client) }
        deliver()
    }

    /// Loses the connection of that client with everything under way to it.
    func lose(_ client: String) {
        connections[client] = nil
    }

    /// Returns the next frame for that client.
    func next(for client: String) -> [UInt8]? {
        guard connections[client]?.outbox.isEmpty == false else { return nil }
        return connections[client]?.outbox.removeFirst()
    }

    var isQuiet: Bool { connections.values.allSatisfy(\.outbox.isEmpty) }

    private func carryOut(_ effect: ServerSession.Effect, for client: String) {
        switch effect {
        case .send(let bytes): connections[client]?.outbox.append(bytes)
        case .handle(let message): handle(message, from: client)
        case .identify, .read: break
        // A closed connection gets nothing more here.
        case .close: connections[client] = nil
        }
    }

    private func send(_ message: DownMessage, to client: String) {
        connections[client]?.outbox.append(message.frame)
    }

    private func handle(_ message: UpMessage, from client: String) {
        switch message {
        case .create(let request, let name, let rules):
            self.name = name
            authority = Authority(
                Authority.Start(
                    list: 1, logID: 0x1_00C0_FFEE, hand: Hand(rules: rules), revision: 0, deck: nil, sequences: [:]),
                limits: Limits())
            send(.done(request: request), to: client)
        case .subscribe(let subscribe): start(subscribe, client)
        case .excerpt(let asked):
            guard let authority else { return }
            let excerpt = authority.hand.excerpt(
                asked.selections, from: asked.start, logID: authority.logID, revision: authority.revision)
            send(.excerpt(request: asked.request, excerpt), to: client)
        case .submit(let submission): submit(submission, client)
        default: break
        }
    }

    private func start(_ subscribe: UpMessage.Subscribe, _ client: String) {
        guard let authority, subscribe.name == name, let author = connections[client]?.author else { return }
        let isKnown = subscribe.logID == authority.logID
        let hand = authority.hand
        let start: DownMessage.Subscribed.Start =
            isKnown
            ? .resumed(head: authority.revision, digest: hand.digest)
            : subscribe.wantsItems
                ? .snapshot(revision: authority.revision, count: hand.count, digest: hand.digest)
                : .newest(authority.revision)
        send(
            .subscribed(
                .init(
                    request: subscribe.request, list: 1, logID: authority.logID, rules: authority.rules,
                    lastSequence: authority.lastSequence(of: author), start: start)), to: client)
        if case .snapshot = start, !hand.isEmpty {
            send(.chunk(request: subscribe.request, items: hand), to: client)
        }
        connections[client]?.cursor = isKnown ? subscribe.revision : authority.revision
    }

    private func submit(_ submission: Submission, _ client: String) {
        guard let author = connections[client]?.author else { return }
        let (list, sequence) = (submission.list, submission.sequence)
        switch authority?.submit(submission, author: author, now: clock + 1_000) {
        case .numbered:
            clock += 1_000
            _ = authority?.takeBatch()
            authority?.wrote()
        case .acknowledged(let revision):
            send(.acknowledged(list: list, sequence: sequence, revision: revision), to: client)
        case .stale(let head): send(.stale(list: list, sequence: sequence, head: head), to: client)
        case .rejected(let reason): send(.rejected(list: list, sequence: sequence, reason), to: client)
        case .failed, .waiting, .tooMuchWork, nil: break
        }
    }

    /// Sends commits to everybody who follows the list.
    private func deliver() {
        guard let authority else { return }
        for client in connections.keys {
            guard let cursor = connections[client]?.cursor, cursor < authority.revision else { continue }
            for run in authority.frames(after: cursor, about: .max).runs {
                connections[client]?.outbox += Self.frames(in: [UInt8](run.bytes))
            }
            connections[client]?.cursor = authority.revision
        }
    }

    static func frames(in bytes: [UInt8]) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        var reader = FrameReader(limit: bytes.count)
        bytes.withUnsafeBytes { all in
            try? reader.read(all) { (body) throws(WireError) -> Bool in
                frames.append(Frame.around([UInt8](body)))
                return true
            }
        }
        return frames
    }
}
