import Foundation

/// The file in which a server's `AccessBook` is kept: read by the server whenever it changes, written by commands.
public struct AccessFile: Sendable {
    public let path: String

    /// - Parameter folder: that of the server's store.
    public init(folder: String) {
        path = folder + "/access.json"
    }

    /// What cannot be read or written, for people.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// What tells one state of the file from another.
    struct Stamp: Equatable {
        let inode: UInt64
        let size: UInt64
        let changed: Date
    }

    /// Nil if there is no file.
    var stamp: Stamp? {
        guard let facts = try? FileManager.default.attributesOfItem(atPath: path),
            let inode = facts[.systemFileNumber] as? UInt64, let size = facts[.size] as? UInt64,
            let changed = facts[.modificationDate] as? Date
        else { return nil }
        return Stamp(inode: inode, size: size, changed: changed)
    }

    /// What the file says; without one what holds by itself.
    ///
    /// - Throws: `Failure`, if it is there and does not read: then nobody may be let in by mistake.
    public func read() throws -> AccessBook {
        guard FileManager.default.fileExists(atPath: path) else { return AccessBook() }
        do {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            return try decoder.decode(AccessBook.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            throw Failure(description: "\(path) does not read: \(error)")
        }
    }

    /// Changes what the file says. One at a time: of two commands that run at once neither loses what the other says.
    public func change<Result>(_ body: (inout AccessBook) throws -> Result) throws -> Result {
        try? makeFolder()
        let lock = open(path + ".lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard lock >= 0, flock(lock, LOCK_EX) == 0 else {
            throw Failure(description: "cannot lock \(path): \(String(cString: strerror(errno)))")
        }
        defer { close(lock) }
        var book = try read()
        let result = try body(&book)
        try write(book)
        return result
    }

    private func makeFolder() throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Puts another book in its place, whole or not at all, for its owner only.
    public func write(_ book: AccessBook) throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let fresh = path + ".new"
        do {
            try makeFolder()
            let isMade = FileManager.default.createFile(
                atPath: fresh, contents: try encoder.encode(book), attributes: [.posixPermissions: 0o600])
            guard isMade, rename(fresh, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            throw Failure(description: "cannot write \(path): \(error.localizedDescription)")
        }
    }
}
