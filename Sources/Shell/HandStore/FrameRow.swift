import HandSync

/// Commits that are written together and share a row: their frames, one behind the other.
///
/// Reading one commit reads the whole row, so a row has an upper size.
struct FrameRow {
    /// The most bytes of frames in a row, unless one frame alone has more.
    static let most = 64 << 10

    let first: Int
    private(set) var last: Int
    private(set) var frames: [UInt8]

    /// The rows that a batch takes.
    static func rows(of batch: CommitBatch) -> [FrameRow] {
        var rows: [FrameRow] = []
        for entry in batch.entries {
            let (revision, frame) = (entry.mark.revision, entry.frame.bytes)
            if let last = rows.indices.last, rows[last].frames.count + frame.count <= most {
                rows[last].frames.append(contentsOf: frame)
                rows[last].last = revision
            } else {
                rows.append(FrameRow(first: revision, last: revision, frames: [UInt8](frame)))
            }
        }
        return rows
    }
}
