import HandSync

/// A row of commits that were written together: their frames, consecutively.
///
/// A query for one commit reads the whole row, so rows have a maximum size.
struct FrameRow {
    /// The most bytes of frames in a row, unless a single frame has more.
    static let maxBytes = 64 << 10

    let first: Int
    private(set) var last: Int
    private(set) var frames: [UInt8]

    /// Nil if the frames of a batch take more than a row.
    init?(all batch: CommitBatch) {
        let size = batch.entries.reduce(0) { $0 + $1.frame.range.count }
        guard let last = batch.entries.last, batch.entries.count == 1 || size <= Self.maxBytes else { return nil }
        (first, self.last, frames) = (batch.entries[0].mark.revision, last.mark.revision, [])
        frames.reserveCapacity(size)
        for index in batch.entries.indices { frames.append(contentsOf: batch.entries[index].frame.bytes) }
    }

    private init(first: Int, last: Int, frames: [UInt8]) {
        (self.first, self.last, self.frames) = (first, last, frames)
    }

    static func rows(of batch: CommitBatch) -> [FrameRow] {
        var rows: [FrameRow] = []
        for entry in batch.entries {
            let (revision, frame) = (entry.mark.revision, entry.frame.bytes)
            if let last = rows.indices.last, rows[last].frames.count + frame.count <= maxBytes {
                rows[last].frames.append(contentsOf: frame)
                rows[last].last = revision
            } else {
                rows.append(FrameRow(first: revision, last: revision, frames: [UInt8](frame)))
            }
        }
        return rows
    }
}
