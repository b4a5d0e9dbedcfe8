import Files
import Foundation
import Glibc
import TLS

/// The file in which a server's `AccessBook` is kept: read by the server whenever it changes, written by commands.
package struct AccessFile: Sendable {
    package let path: String
    /// The rules that the store remembers; nil if there never were any.
    private let recall: @Sendable () throws -> [UInt8]?
    /// Has the store remember them.
    let remember: (@Sendable ([UInt8]) throws -> Void)?

    /// - Parameter folder: that of the server's store.
    package init(
        folder: String, recall: @escaping @Sendable () throws -> [UInt8]? = { nil },
        remember: (@Sendable ([UInt8]) throws -> Void)? = nil
    ) {
        path = folder + "/access.json"
        self.recall = recall
        self.remember = remember
    }

    /// What cannot be read or written, for people.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// What the file said at one moment.
    struct Reading {
        let book: AccessBook
        /// Nil if there was no file.
        let state: FileState?
        let fingerprint: String
        /// Empty if there was no file.
        let bytes: [UInt8]
        /// Whether there was a file before, and now there is none.
        let isLost: Bool
    }

    /// What the file says; without one what holds by itself.
    ///
    /// - Throws: `Failure`, if it is there and does not read: then nobody may be let in by mistake. `Lost`, if it is missing.
    package func read() throws -> AccessBook {
        let reading = try reading()
        if reading.isLost { throw Lost() }
        return reading.book
    }

    /// Thrown where the file was there before, and now is not.
    package struct Lost: Error {}

    var isThere: Bool { (try? FileState(at: path)) != nil }

    /// The file as it is; nil if there is none.
    package func bytes() throws -> [UInt8]? {
        do { return try PrivateFile.read(path)?.bytes } catch { throw Failure(description: error.description) }
    }

    /// Tells what the file says from anything else that it may say.
    package func fingerprint() throws -> String { try reading().fingerprint }

    /// What the store remembers, or that there is something which does not read.
    func remembered() -> Result<[UInt8], any Error>? {
        do { return try recall().map { .success($0) } } catch { return .failure(error) }
    }

    /// - Parameter wasThere: whether there was a file before; nil has the store asked.
    func reading(wasThere: Bool? = nil) throws -> Reading {
        do {
            guard let (bytes, state) = try PrivateFile.read(path) else {
                let isLost = wasThere ?? (remembered() != nil)
                return Reading(
                    book: isLost ? .closed : AccessBook(), state: nil, fingerprint: isLost ? "lost" : "none", bytes: [],
                    isLost: isLost)
            }
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            return Reading(
                book: try decoder.decode(AccessBook.self, from: Data(bytes)), state: state,
                fingerprint: Fingerprint.sha256(String(decoding: bytes, as: UTF8.self)), bytes: bytes, isLost: false)
        } catch let error as FileError {
            throw Failure(description: error.description)
        } catch {
            throw Failure(description: "\(path) does not read: \(error)")
        }
    }

    /// Changes what the file says; if it got lost, it begins anew with nobody's rights. One at a time: of two commands that run
    /// at once neither loses what the other says.
    package func change<Result>(_ body: (inout AccessBook) throws -> Result) throws -> Result {
        try locked {
            var book = try reading().book
            let result = try body(&book)
            try write(book)
            return result
        }
    }

    /// Puts back what the store remembers, if the file got lost. Returns whether it was so.
    package func restore() throws -> Bool {
        try locked {
            guard try reading().isLost, let rules = try remembered()?.get() else { return false }
            try write(rules)
            return true
        }
    }

    private func locked<Result>(_ body: () throws -> Result) throws -> Result {
        let lock: Int32
        do {
            try PrivateFile.makeFolder(URL(fileURLWithPath: path).deletingLastPathComponent().path)
            lock = try PrivateFile.open(path + ".lock", O_RDWR)
        } catch { throw Failure(description: error.description) }
        defer { close(lock) }
        guard flock(lock, LOCK_EX) == 0 else {
            throw Failure(description: "cannot lock \(path): \(String(cString: strerror(errno)))")
        }
        return try body()
    }

    /// Puts another book in its place, whole or not at all. Whose the file is stays: the server must read what root writes.
    private func write(_ book: AccessBook) throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try write([UInt8](try encoder.encode(book)))
    }

    private func write(_ bytes: [UInt8]) throws {
        do { try PrivateFile.replace(path, with: bytes) } catch {
            throw Failure(description: error.description)
        }
    }
}
