import HandCore
import HandSync
import HandWire

/// A client at the other end of a stream: it reads or does not, and checks that the server follows the protocol.
package final class FuzzStream: ByteStream {
    package let peerDescription = "fuzzed"
    /// Bytes that were sent but not yet read by the server.
    var incoming: [UInt8] = []
    package private(set) var isReading = true
    package private(set) var isClosed = false
    package private(set) var isShutDown = false
    /// Whether the client reads. Bytes written earlier wait while it does not.
    private var takes = true
    package private(set) var isWriting = false
    /// What the server did against the protocol.
    package private(set) var fault: String?
    private(set) var heard = Received()
    private var reader = FrameReader(limit: 1 << 24)

    package init() {}

    package func write(_ runs: [FrameRun]) -> Bool {
        if isWriting { fault = "written to before the last was taken" }
        if isShutDown || isClosed { fault = "written to after its end" }
        for run in runs { listen(run.bytes) }
        isWriting = !takes
        return takes
    }

    private func listen(_ bytes: UnsafeRawBufferPointer) {
        do {
            try reader.read(bytes) { (body) throws(WireError) -> Bool in
                let problem = heard.take(try DownMessage(body))
                fault = fault ?? problem
                return true
            }
        } catch { fault = "the server sends something unreadable: \(error)" }
    }

    /// Makes the client read or stop reading. Returns whether the server must be notified.
    package func setTakes(_ takes: Bool) -> Bool {
        self.takes = takes
        guard takes, isWriting else { return false }
        isWriting = false
        return true
    }

    package func stopReading() { isReading = false }
    package func resumeReading() { isReading = true }
    package func shutdown(because code: ErrorCode) { isShutDown = true }
    package func close() { isClosed = true }
}

/// What a client has received, as far as it needs that to send sensible messages and to notice wrong ones.
struct Received {
    struct List {
        var logID: UInt64
        var revision: Int?
        var count = 0
        var sequence: SequenceNumber
    }

    private(set) var lists: [ListNumber: List] = [:]
    private var isGreeted = false
    private var isOver = false
    private var author: AuthorID = 0

    /// Returns what is wrong with a message, given all earlier ones.
    mutating func take(_ message: DownMessage) -> String? {
        if isOver { return "a message follows the closing error" }
        switch message {
        case .welcome(let welcome):
            if isGreeted { return "a second welcome" }
            isGreeted = true
            author = welcome.author
            return nil
        case .error(let code, _, _, let text, _):
            isOver = code.closes
            return isOver || isGreeted ? nil : "an answer before the welcome: \(code), \(text)"
        default: break
        }
        if !isGreeted { return "something comes before the welcome" }
        switch message {
        case .subscribed(let subscribed): start(subscribed)
        case .commit(let list, let commit): return take(commit, of: list)
        default: break
        }
        return nil
    }

    private mutating func start(_ subscribed: DownMessage.Subscribed) {
        var list = List(logID: subscribed.logID, sequence: subscribed.lastSequence)
        if case .snapshot(let revision, let count, _) = subscribed.start {
            list.revision = revision
            list.count = count
        }
        lists[subscribed.list] = list
    }

    private mutating func take(_ commit: Commit, of list: ListNumber) -> String? {
        guard let known = lists[list] else { return "a commit of a list that was not subscribed to" }
        if let last = known.revision, commit.revision != last + 1 {
            return "list \(list): revision \(commit.revision) comes behind \(last)"
        }
        lists[list]?.revision = commit.revision
        lists[list]?.count = commit.count
        return nil
    }

    /// Returns the sequence for the next submission, if none is lost.
    mutating func nextSequence(in list: ListNumber) -> SequenceNumber {
        let next = lists[list]?.sequence.next ?? 1
        lists[list]?.sequence = next
        return next
    }
}

extension FuzzStream {
    func nextSequence(in list: ListNumber) -> SequenceNumber { heard.nextSequence(in: list) }
}
