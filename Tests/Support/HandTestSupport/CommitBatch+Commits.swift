import HandCore
import HandSync

extension CommitBatch {
    /// The commits, read from their frames.
    package var commits: [Commit] {
        entries.compactMap { entry in
            try? StoredFrame(revision: entry.mark.revision, bytes: Array(entry.frame.bytes)).commit()
        }
    }
}
