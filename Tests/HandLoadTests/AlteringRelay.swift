import EventLoop
import HandCore
import HandWire

/// A relay between clients and a server that passes everything on, except for one alteration on one connection: like a
/// server that mixes up its messages.
final class AlteringRelay {
    enum Lie {
        /// In this commit, counted from 1 on that connection, or in the next one that inserts something, the first
        /// inserted item has another text.
        case item(commit: Int)
        /// From this commit on, all have a wrong digest.
        case digests(commit: Int)
    }

    private let listener: Listener
    private var connections = 0

    /// - Parameters:
    ///   - victim: the connection whose messages are altered, counted from 0.
    init(_ loop: Loop, at path: String, to server: String, victim: Int, _ lie: Lie) throws {
        var accept: (Pipe) -> Void = { _ in }
        listener = try Listener.pipe(loop, path: path, onConnection: { accept($0) })
        accept = { [unowned self] client in
            let isVictim = connections == victim
            connections += 1
            _ = Pipe.connect(loop, path: server) { result in
                guard case .success(let upstream) = result else { return client.close() }
                Self.join(client, upstream, isVictim ? lie : nil)
            }
        }
    }

    func close() { listener.close() }

    private static func join(_ client: Pipe, _ server: Pipe, _ lie: Lie?) {
        var reader = FrameReader(limit: Int(Int32.max))
        var lie = lie
        func end(_: ChannelEnd) {
            client.close()
            server.close()
        }
        client.open({ server.write([OutputBuffer($0)]) }, onEnd: end)
        server.open(
            { bytes in
                var down: [UInt8] = []
                try? reader.read(bytes) { (body) throws(WireError) -> Bool in
                    let message = try DownMessage(body)
                    down += altered(message, &lie).frame
                    return true
                }
                if !down.isEmpty { client.write([OutputBuffer(down)]) }
            }, onEnd: end)
    }

    private static func altered(_ message: DownMessage, _ lie: inout Lie?) -> DownMessage {
        guard case .commit(let list, let commit) = message else { return message }
        let left: Int
        switch lie {
        case nil: return message
        case .item(let commit):
            lie = .item(commit: commit - 1)
            left = commit
        case .digests(let number):
            lie = .digests(commit: number - 1)
            return number > 1 ? message : .commit(list: list, copy(of: commit, digest: commit.digest ^ 1))
        }
        guard left <= 1, let item = commit.delta.insertedItems.first else { return message }
        var components = commit.delta.components
        guard let index = components.firstIndex(where: { if case .insert = $0 { true } else { false } }),
            case .insert(_, let side) = components[index]
        else { return message }
        components[index] = .insert([Item(id: item.id, content: .note("something else"))], side)
        guard let delta = try? Delta(components) else { return message }
        lie = nil
        return .commit(list: list, copy(of: commit, delta: delta))
    }

    private static func copy(of commit: Commit, digest: UInt64? = nil, delta: Delta? = nil) -> Commit {
        Commit(
            revision: commit.revision, author: commit.author, sequence: commit.sequence, base: commit.base,
            time: commit.time, count: commit.count, digest: digest ?? commit.digest, delta: delta ?? commit.delta)
    }
}
