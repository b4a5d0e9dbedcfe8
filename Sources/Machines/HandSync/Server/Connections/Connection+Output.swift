import HandCore
import HandWire

extension Connection {
    /// Output that waits to be sent, apart from commits.
    struct Outbox {
        /// Answers, in order, that are sent before anything else.
        private(set) var answers: [FrameRun] = []
        private(set) var bytes = 0
        /// Lists at past revisions that are on their way.
        var transfers: [Transfer] = []
        /// Whether the connection is in `Delivery.marked` or `Delivery.receiving`.
        var isMarked = false

        var isEmpty: Bool { answers.isEmpty && transfers.isEmpty }

        fileprivate mutating func add(_ run: FrameRun) {
            answers.append(run)
            bytes += run.range.count
        }

        fileprivate mutating func takeAnswers() -> [FrameRun] {
            defer { (answers, bytes) = ([], 0) }
            return answers
        }
    }

    /// Adds an answer. Nothing may follow the error that ends the connection, not even the answer to an earlier
    /// request.
    func enqueue(_ run: FrameRun) {
        guard !isEnding, !run.range.isEmpty else { return }
        outbox.add(run)
        account?.answerBytes += run.range.count
        adjustReading()
    }

    func takeAnswers() -> [FrameRun] {
        account?.answerBytes -= outbox.bytes
        return outbox.takeAnswers()
    }

    /// Whether answers to one more request may wait for this client.
    var hasRoom: Bool {
        let transfers = outbox.transfers.count
        return outbox.bytes <= session.limits.answerBytes
            && (transfers == 0 || transfers < session.limits.transfers && !stream.isWriting)
    }

    /// The output that is sent in one write.
    struct Output {
        private(set) var runs: [FrameRun] = []
        /// The bytes of all runs.
        private(set) var bytes = 0
        /// Bytes that were made for this connection alone, apart from answers.
        private(set) var ownBytes = 0
        /// The number of commits that came from memory.
        fileprivate(set) var commits = 0
        /// Whether there is more to send at once.
        var hasMore = false
        /// Whether the output contains answers or lists, so that there may be room for more afterwards.
        fileprivate(set) var hadAnswers = false
        /// A list whose next commits are no longer in its window, and have to be read.
        fileprivate(set) var behind: ListNumber?

        /// Whether enough was made for this connection alone. This limits what the server holds for a client that does
        /// not read.
        fileprivate func isFull(_ chunkBytes: Int) -> Bool { ownBytes >= chunkBytes }

        fileprivate mutating func add(_ frame: [UInt8]) {
            add(FrameRun(frame))
            ownBytes += frame.count
        }

        fileprivate mutating func add(_ run: FrameRun) {
            runs.append(run)
            bytes += run.range.count
        }

        fileprivate mutating func add(_ runs: [FrameRun]) {
            for run in runs { add(run) }
        }

        mutating func removeAll() {
            runs.clear()
            (bytes, ownBytes, commits, hasMore, hadAnswers, behind) = (0, 0, 0, false, false, nil)
        }
    }

    /// Whether this connection follows one list only, and the commits of the list after `revision` are its whole
    /// output.
    ///
    /// - Precondition: the connection is not marked. So nothing else is to be sent, unless the stream is still writing,
    ///   or lost, or the rest of a list waits because its user is slowed down.
    func awaitsOnly(commitsAfter revision: Int) -> Bool { cursors.isOne(at: revision) && !stream.isWriting }

    /// Sends commits of the only list that the connection follows.
    func write(_ runs: [FrameRun], upTo revision: Int) {
        cursors.moveOne(to: revision)
        _ = stream.write(runs)
    }

    /// About how many bytes go to the socket at a time.
    static let burst = 256 << 10

    /// Sends as much as the socket takes in one write.
    ///
    /// - Parameter output: memory to put the output together in; afterwards it tells what was sent.
    func flush(_ output: inout Output, chunkBytes: Int) {
        output.removeAll()
        guard !isClosed, !stream.isWriting else { return }
        output.hadAnswers = !outbox.isEmpty
        if !outbox.answers.isEmpty { output.add(takeAnswers()) }
        if !isEnding { gather(&output, chunkBytes: chunkBytes) }
        if !outbox.answers.isEmpty { output.hasMore = true }
        if !output.runs.isEmpty, !stream.write(output.runs) {
            output.hasMore = false
        } else if isEnding {
            finishIfSent()
        }
    }

    /// Adds the output of all lists that this connection follows.
    private func gather(_ output: inout Output, chunkBytes: Int) {
        // A connection whose user has spent too much gets lists when there is budget again.
        if let transfer = outbox.transfers.first, !isSlowed {
            output.add(transfer.next(about: chunkBytes))
            if transfer.isDone { outbox.transfers.removeFirst() }
            output.hasMore = true
        }
        var behind: Int?
        for index in cursors.indices {
            if cursors[at: index].isBehind {
                behind = behind ?? index
            } else {
                Self.gather(&cursors[at: index], &output, chunkBytes: isSlowed ? 0 : chunkBytes)
            }
        }
        // Lists are read one after the other, because the commits stay in memory until they are sent.
        if let behind, !cursors.indices.contains(where: { cursors[at: $0].isReading }) {
            cursors[at: behind].isReading = true
            output.behind = cursors[at: behind].hosted.list.number
        }
    }

    /// Adds the output that one list has for this connection.
    private static func gather(_ cursor: inout Cursor, _ output: inout Output, chunkBytes: Int) {
        let hosted = cursor.hosted
        if let snapshot = cursor.snapshot {
            output.hasMore = chunkBytes > 0
            if output.isFull(chunkBytes) { return }
            output.add(snapshot.next(about: chunkBytes))
            if snapshot.isDone { cursor.snapshot = nil }
        } else if !cursor.isReading, cursor.revision < hosted.authority.revision {
            if let latest = hosted.authority.latest, latest.base == cursor.revision {
                output.add(latest.run)
                output.commits += hosted.authority.revision - cursor.revision
                cursor.revision = hosted.authority.revision
            } else {
                let (runs, revision) = hosted.authority.frames(after: cursor.revision, about: burst)
                output.add(runs)
                output.commits += revision - cursor.revision
                cursor.revision = revision
                if revision < hosted.authority.revision { output.hasMore = true }
            }
        }
        if cursor.presence.sent < cursor.presence.due { gatherPresence(&cursor, &output, chunkBytes: chunkBytes) }
    }

    /// Adds the people who have moved, come or gone since the client was told, as far as this news is due.
    private static func gatherPresence(_ cursor: inout Cursor, _ output: inout Output, chunkBytes: Int) {
        let hosted = cursor.hosted
        guard !cursor.presence.isLost(hosted.presence) else { return }
        while cursor.presence.sent < cursor.presence.due, !output.isFull(chunkBytes) {
            let (entries, end) = hosted.presence.entries(
                after: cursor.presence.sent, through: cursor.presence.due, knownGone: cursor.presence.knownGone,
                atMost: ServerMachine.presencePage)
            if !entries.isEmpty { output.add(DownMessage.presence(list: hosted.list.number, entries).frame) }
            cursor.presence.sent = end
        }
        if cursor.presence.sent < cursor.presence.due { output.hasMore = chunkBytes > 0 }
    }

    /// Records that the client must be told the changes of a list's presence since `before`.
    ///
    /// - Parameter frame: contains the changes, and is the same for everybody; nil if it would be too large.
    /// - Returns: false if the client believes that people are present whose leaving is no longer remembered; nil if
    ///   the client does not want to know who is there.
    func owePresence(of hosted: ListMachine, since before: Int, _ frame: FrameRun?) -> Bool? {
        guard let index = cursors.index(of: hosted.list.number), cursors[at: index].wantsPeople else { return nil }
        if cursors[at: index].presence.isLost(hosted.presence) { return false }
        cursors[at: index].presence.due = hosted.presence.taken
        guard let frame, cursors[at: index].presence.sent >= before, !stream.isWriting else { return true }
        cursors[at: index].presence.sent = hosted.presence.taken
        enqueue(frame)
        return true
    }
}
