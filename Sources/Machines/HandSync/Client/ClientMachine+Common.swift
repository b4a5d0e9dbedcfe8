import HandCore
import HandWire

extension ClientMachine {
    /// An action that a server can make a client repeat, with its price in points. Without a limit, all clients of a
    /// faulty server would repeat the action as often as they can. A client may spend 100 points at once, and then 10 a
    /// second.
    enum Repeat: Int {
        /// Load a list once more, because the replica differs from the server's list.
        case diverged = 40
        /// Subscribe to a list once more, or submit an edit once more.
        case asked = 10
        /// Follow a list under another name.
        case renamed = 1
    }

    /// The state that the connection, the requests and all subscriptions share: who the client is, and what goes out.
    struct Common: Sendable {
        var hello: UpMessage.Hello
        private(set) var effects = Queue<Effect>()
        /// Frames that wait until earlier events are in the journal, each with the journal's mark at that time.
        private(set) var frames = Queue<(bytes: [UInt8], mark: Int)>()
        /// The writes for the journal; nil without a journal.
        var journal: JournalBuffer?
        /// The client's author number on the server; nil until it is known.
        var author: AuthorID?
        /// The author number of this client's last commit in this run.
        private var knownAuthor: AuthorID?
        /// Whether another program has used this client's id.
        private(set) var isShared = false
        /// The author numbers of this person's other clients.
        private let others: Set<AuthorID>
        /// The author numbers of this person, with this client and others.
        var persons: Set<AuthorID> { author.map { others.union([$0]) } ?? others }
        /// The last sequence that this client has used in each history, where no replica stores it.
        var used: [UInt64: SequenceNumber]
        private var nextRequest: RequestNumber = 1
        /// The points for what the client has repeated since the last `takeRepeats`: see `Repeat`.
        private(set) var repeats = 0

        init(hello: UpMessage.Hello, journal: JournalBuffer?, persons: Set<AuthorID>, used: [UInt64: SequenceNumber]) {
            self.hello = hello
            others = persons
            self.journal = journal
            self.used = used
        }

        var journalMark: Int { journal?.mark ?? 0 }
        var keptMark: Int { journal?.keptMark ?? 0 }

        mutating func emit(_ effect: Effect) { effects.append(effect) }

        /// Sends a message as soon as the journal contains everything that has happened so far.
        mutating func send(_ message: UpMessage) { frames.append((message.frame, journalMark)) }

        /// Returns the next frame that may be sent, else the next effect, or nil if there is neither.
        mutating func nextEffect() -> Effect? {
            let keptMark = keptMark
            if let frame = frames.next(if: { $0.mark <= keptMark }) { return .send(frame.bytes) }
            return effects.next()
        }

        /// Drops the frames that waited for a connection that is gone.
        mutating func dropFrames() { frames = Queue() }

        mutating func note(_ repeated: Repeat) { repeats += repeated.rawValue }

        mutating func takeRepeats() -> Int { exchange(&repeats, with: 0) }

        mutating func newRequest() -> RequestNumber { exchange(&nextRequest, with: nextRequest.next) }

        /// Notes that a sequence number is used, so that later submissions to that history, in this run or another,
        /// continue after it.
        mutating func noteUsed(_ sequence: SequenceNumber, in log: UInt64) {
            guard used[log] ?? 0 < sequence else { return }
            used[log] = sequence
            journal?.add(.used(log: log, sequence: sequence), isUrgent: true)
        }

        /// Keeps a lost edit in the journal.
        mutating func note(_ loss: Loss, of list: String, _ log: UInt64) {
            journal?.add(.lost(loss, list: list, log: log, person: hello.person), isUrgent: true)
        }

        /// Records a submission before it is sent, so that it can be sent again under its sequence.
        mutating func noteUsed(_ submission: JournalSubmission) {
            used[submission.log] = max(used[submission.log] ?? 0, submission.sequence)
            note(submission, isUrgent: true)
        }

        /// Records the answer to an edit on an excerpt.
        mutating func answered(_ sequence: SequenceNumber, in log: UInt64, _ answer: Answer) {
            var revision: Int?
            if case .committed(let made, _, _) = answer { revision = made }
            journal?.add(.answered(log: log, sequence: sequence, revision: revision), isUrgent: false)
        }

        /// Records a submission in the journal.
        mutating func note(_ submission: JournalSubmission, isUrgent: Bool) {
            journal?.add(.submission(submission, person: hello.person), isUrgent: isUrgent)
        }

        /// Records that another program has used this client's id.
        mutating func noteShared() {
            if !isShared { journal?.add(.shared, isUrgent: true) }
            isShared = true
        }

        /// Records the author number of this client's commit in the journal. If the record is lost, only later commits
        /// can be undone.
        mutating func noteCommitted() {
            guard let author, author != knownAuthor else { return }
            knownAuthor = author
            journal?.add(.committed(author: author, person: hello.person), isUrgent: false)
        }

        /// Continues under another id, about which nothing is known yet.
        mutating func change(to client: ClientID) {
            hello.client = client
            isShared = false
            used = [:]
            author = nil
        }
    }
}
