import HandCore
import HandSync
import HandWire

extension PostgresStore {
    package func frames(of list: UInt64, after revision: Int, about bytes: Int) throws -> [StoredFrame] {
        try read { session in
            guard let row = try PostgresListRow.find(list, session) else { return [] }
            return try Self.frames(of: row.list, after: revision, through: .max, about: bytes, session)
        }
    }

    /// The rows that one query reads.
    private static let rowsAtOnce = 32

    /// Returns consecutive frames. None is missing, except that trimming removes those up to the floor, the oldest
    /// first.
    static func frames(
        of list: StoredList, after revision: Int, through last: Int, about bytes: Int, _ session: PostgresSession
    ) throws -> [StoredFrame] {
        let sql = "SELECT last, first, frames FROM commits WHERE list = $1 AND last > $2 ORDER BY last LIMIT $3"
        var frames: [StoredFrame] = []
        var (total, end) = (0, revision)
        // Most of the time one row is enough.
        var limit = 1
        while total < bytes, end < last {
            let rows = try session.run(sql, .init(bits: list.number), .init(end), .init(limit))
            for frame in try CommitRow.frames(rows, of: list.number, after: end) {
                guard total < bytes, frame.revision <= last else { return frames }
                guard frame.revision == end + 1 || frames.isEmpty && frame.revision <= list.floor + 1 else {
                    throw CommitRow.missing(max(end, list.floor) + 1, list.number)
                }
                frames.append(frame)
                (total, end) = (total + frame.bytes.count, frame.revision)
            }
            if rows.count < limit {
                let reached = frames.isEmpty ? max(end, list.floor) : end
                guard reached >= min(last, list.revision) else { throw CommitRow.missing(reached + 1, list.number) }
                break
            }
            limit = Self.rowsAtOnce
        }
        return frames
    }
}
