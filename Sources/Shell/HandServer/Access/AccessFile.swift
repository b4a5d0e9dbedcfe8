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

    /// Puts another book in its place, whole or not at all, for its owner only.
    public func write(_ book: AccessBook) throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let fresh = path + ".new"
        do {
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let isMade = FileManager.default.createFile(
                atPath: fresh, contents: try encoder.encode(book), attributes: [.posixPermissions: 0o600])
            guard isMade, rename(fresh, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            throw Failure(description: "cannot write \(path): \(error.localizedDescription)")
        }
    }
}
