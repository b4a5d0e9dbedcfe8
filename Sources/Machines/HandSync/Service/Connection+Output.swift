import HandCore
import HandWire

extension Connection {
    /// What is sent in one write.
    struct Output {
        fileprivate(set) var runs: [FrameRun] = []
        /// Bytes among it that were made for this connection alone, but for answers.
        private(set) var ownBytes = 0
        /// Commits among it that came from memory.
        fileprivate(set) var commits = 0
        /// Whether there is more to send at once.
        var hasMore = false

        var bytes: Int { runs.reduce(0) { $0 + $1.range.count } }

        /// Whether enough is made for this connection alone: a client that does not read makes the server hold no more.
        fileprivate func isFull(_ chunkBytes: Int) -> Bool { ownBytes >= chunkBytes }

        fileprivate mutating func add(_ frame: [UInt8]) {
            runs.append(FrameRun(frame))
            ownBytes += frame.count
        }

        mutating func add(_ answers: [FrameRun]) {
            runs += answers
        }

        mutating func removeAll() {
            // Few, and quicker so than all together.
            while !runs.isEmpty { runs.removeLast() }
            (ownBytes, commits, hasMore) = (0, 0, false)
        }
    }

    /// About how many bytes go to the socket at a time.
    static let burst = 256 << 10

    /// Adds what its lists have for it.
    func gather(_ output: inout Output, chunkBytes: Int, _ read: (Connection, UInt64) -> Void) {
        if !transfers.isEmpty {
            output.add(transfers[0].next(about: chunkBytes))
            if transfers[0].isDone { transfers.removeFirst() }
            output.hasMore = true
        }
        var behind: Int?
        for index in cursors.indices {
            if cursors[at: index].isBehind {
                behind = behind ?? index
            } else {
                Self.gather(&cursors[at: index], &output, chunkBytes: chunkBytes)
            }
        }
        // One after the other: what was read is held until it is sent.
        if let behind, !cursors.indices.contains(where: { cursors[at: $0].isReading }) {
            cursors[at: behind].isReading = true
            read(self, cursors[at: behind].hosted.list.number)
        }
    }

    /// What one list has for this connection.
    private static func gather(_ cursor: inout Cursor, _ output: inout Output, chunkBytes: Int) {
        let hosted = cursor.hosted
        if let snapshot = cursor.snapshot {
            output.hasMore = true
            if output.isFull(chunkBytes) { return }
            output.add(snapshot.next(about: chunkBytes))
            if snapshot.isDone { cursor.snapshot = nil }
        } else if !cursor.isReading, cursor.revision < hosted.authority.revision {
            if let latest = hosted.authority.latest, latest.base == cursor.revision {
                output.runs.append(latest.run)
                output.commits += hosted.authority.revision - cursor.revision
                cursor.revision = hosted.authority.revision
            } else {
                let (runs, revision) = hosted.authority.frames(after: cursor.revision, about: burst)
                output.runs += runs
                output.commits += revision - cursor.revision
                cursor.revision = revision
                if revision < hosted.authority.revision { output.hasMore = true }
            }
        }
        if cursor.presence.told < cursor.presence.owed { gatherPresence(&cursor, &output, chunkBytes: chunkBytes) }
    }

    /// Who has moved, come or gone since the client was told, as far as it is time to tell it.
    private static func gatherPresence(_ cursor: inout Cursor, _ output: inout Output, chunkBytes: Int) {
        let hosted = cursor.hosted
        guard !cursor.presence.isLost(hosted.presence) else { return }
        while cursor.presence.told < cursor.presence.owed, !output.isFull(chunkBytes) {
            let (entries, end) = hosted.presence.entries(
                after: cursor.presence.told, through: cursor.presence.owed, knownGone: cursor.presence.knownGone,
                atMost: Service.presencePage)
            if !entries.isEmpty { output.add(DownMessage.presence(list: hosted.list.number, entries).frame) }
            cursor.presence.told = end
        }
        if cursor.presence.told < cursor.presence.owed { output.hasMore = true }
    }
}
