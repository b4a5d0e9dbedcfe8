import Synchronization

/// The database files that this process has open.
///
/// When a process closes any descriptor of a file, all its locks on that file end (fcntl(2)), those of SQLite too.
/// Another process would then take the database for closed, and remove its log, and the commits in it. So nothing but
/// SQLite opens the file of an open database.
enum OpenDatabases {
    private struct FileID: Hashable, Sendable {
        let device: UInt64
        let inode: UInt64

        init?(_ path: String) {
            guard let state = try? FileState(at: path) else { return nil }
            (device, inode) = (state.device, state.inode)
        }
    }

    /// The number of connections to each file.
    private static let counts = Mutex<[FileID: Int]>([:])

    /// Counts a connection to a file as long as it lives.
    final class Entry: Sendable {
        private let file: FileID?

        /// - Parameter path: an open file, on which SQLite has no lock yet; empty for a temporary database.
        init(_ path: String) {
            let file = FileID(path)
            if let file { counts.withLock { $0[file, default: 0] += 1 } }
            self.file = file
        }

        deinit {
            guard let file else { return }
            counts.withLock { $0[file] = $0[file] == 1 ? nil : $0[file].map { $0 - 1 } }
        }
    }

    /// Runs `body`, which opens and closes the file, unless the file is open as a database. Returns nil then.
    static func unlessOpen<Result, Failure: Error>(
        _ path: String, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        try counts.withLock { counts throws(Failure) in
            if let file = FileID(path), counts[file] != nil { return nil }
            return try body()
        }
    }
}
