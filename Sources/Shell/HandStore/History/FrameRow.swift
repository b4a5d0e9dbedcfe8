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
