import Foundation
import HandCore
import HandFormats
import HandSync
import HandWire
import Testing

/// The session at the end of `Protocol.md`, run against the server's machines and by the client's.
/// `HAND_WRITE_VECTORS=1` writes the server's frames into the page.
@Suite struct SessionTests {
    private enum Line {
        case up(String, [UInt8])
        case down(String, [UInt8])
        case lost(String)
    }

    private func session() throws -> [Line] {
        let fence = try #require(ProtocolPage.shared.fences(of: "hex").first { $0.name == "session" }?.fence)
        var connected: [String] = []
        return try fence.lines.filter { !$0.isEmpty && !$0.hasPrefix("#") }.flatMap { line -> [Line] in
            let client = String(line.prefix(3))
            if line.dropFirst(3).hasPrefix("!") {
                connected.removeAll { $0 == client }
                return [.lost(client)]
            }
            let bytes = try #require(hexBytes(String(line.dropFirst(5))), "\(line)")
            if line.dropFirst(3).hasPrefix("<") {
                return (client == "all" ? connected : [client]).map { .down($0, bytes) }
            }
            if !connected.contains(client) { connected.append(client) }
            return [.up(client, bytes)]
        }
    }

    /// Replaces the server's frames of the session by what the server answers.
    private func write() throws {
        let server = SmallServer()
        var page = try String(contentsOf: ProtocolPage.url, encoding: .utf8)
        for line in try session() {
            switch line {
            case .up(let client, let frame): server.receive(frame, from: client)
            case .down(let client, let frame):
                let shown = "\(client)< \(Hex.text(frame))  #"
                guard let real = server.next(for: client), let place = page.firstRange(of: shown) else { continue }
                // The same frame may be shown again further down, with another answer.
                page.replaceSubrange(place, with: "\(client)<  \(Hex.text(real))  #")
            case .lost(let client): server.lose(client)
            }
        }
        try page.replacing("<  ", with: "< ").write(to: ProtocolPage.url, atomically: true, encoding: .utf8)
    }

    /// The clients' frames lead to the frames that they are shown to receive, one by one.
    @Test func theServerAnswersAsShown() throws {
        if ProcessInfo.processInfo.environment["HAND_WRITE_VECTORS"] != nil { return try write() }
        let server = SmallServer()
        for line in try session() {
            switch line {
            case .up(let client, let frame): server.receive(frame, from: client)
            case .down(let client, let frame): #expect(server.next(for: client) == frame, "\(client)")
            case .lost(let client): server.lose(client)
            }
        }
        #expect(server.isQuiet)
        #expect(server.hand?.map(\.content) == [.task("Soy milk", done: false), .task("Eggs", done: true)])
    }

    /// A client that receives Bob's frames ends with the list, and its digests agree all along; Ada is notified of her
    /// loss.
    @Test(arguments: ["ada", "bob"])
    func aReplicaFollowsTheSession(client: String) throws {
        var replica = Replica()
        var notices: [Replica.Notice] = []
        for line in try session() {
            switch line {
            case .up(client, let frame):
                guard case .submit(let submission) = try UpMessage(body: frame), replica.inFlight == nil,
                    submission.base == replica.revision, submission.sequence == replica.sequence.next
                else { continue }
                try replica.edit(submission.delta)
                #expect(replica.takeSubmission(list: 1) == submission)
            case .down(client, let frame): notices += try take(DownMessage(body: frame), &replica)
            default: continue
            }
        }
        #expect(replica.view.map(\.content.text) == ["Soy milk", "Eggs"])
        #expect(!replica.hasPending && !replica.hasDiverged && replica.revision == 7)
        let overridden = notices.filter { if case .superseded = $0 { true } else { false } }
        #expect(overridden.count == (client == "ada" ? 1 : 0), "\(notices)")
        let acknowledged = notices.filter { if case .acknowledged = $0 { true } else { false } }
        #expect(acknowledged.count == (client == "ada" ? 4 : 2))
    }

    private func take(_ message: DownMessage, _ replica: inout Replica) throws -> [Replica.Notice] {
        switch message {
        case .welcome(let welcome):
            replica.author = welcome.author
            return []
        case .subscribed(let subscribed):
            guard case .snapshot(let revision, 0, _) = subscribed.start else { return [] }
            return replica.reset(to: Hand(), revision: revision, logID: subscribed.logID, lastSequence: 0).notices
        case .chunk(_, let items):
            return replica.reset(to: items, revision: 1, logID: 0x1_00C0_FFEE, lastSequence: 0).notices
        case .commit(_, let commit):
            return try replica.receive(commit).notices
        default: return []
        }
    }
}

extension UpMessage {
    /// Reads the message in one frame.
    fileprivate init(body frame: [UInt8]) throws {
        self = try frame.dropFirst(UInt64(frame.count).varintSize).withUnsafeBytes { try UpMessage($0) }
    }
}

extension DownMessage {
    /// Reads the message in one frame.
    fileprivate init(body frame: [UInt8]) throws {
        self = try frame.dropFirst(UInt64(frame.count).varintSize).withUnsafeBytes { try DownMessage($0) }
    }
}
