import Files
import Foundation
import Glibc
import TLS

/// The file of a server's `AccessBook`. Commands write it, and the server reads it whenever it changes.
package struct AccessFile: Sendable {
    package let path: String
    /// The rules that the store remembers; nil if there never were any.
    private let recall: @Sendable () throws -> [UInt8]?
    /// Makes the store remember them.
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

    /// Why the file cannot be read or written, for people.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// The file's contents at one moment.
    struct Reading {
        let book: AccessBook
        /// Nil if there was no file.
        let state: FileState?
        let fingerprint: String
        /// Empty if there was no file.
        let bytes: [UInt8]
        /// Whether the file existed before and is now missing.
        let isLost: Bool
    }

    /// The file's rules; the default rules if there never was a file.
    ///
    /// - Throws: `Failure` if the file cannot be read: nobody may be let in by mistake. `Lost` if it is missing.
    package func read() throws -> AccessBook {
        let reading = try reading()
        if reading.isLost { throw Lost() }
        return reading.book
    }

    /// The file existed before and is now missing.
    package struct Lost: Error {}

    var isThere: Bool { (try? FileState(at: path)) != nil }

    /// The file as it is; nil if there is none.
    package func bytes() throws -> [UInt8]? {
        do { return try PrivateFile.read(path)?.bytes } catch { throw Failure(description: error.description) }
    }

    /// Identifies the file's contents.
    package func fingerprint() throws -> String { try reading().fingerprint }

    /// What the store remembers, or the error in reading that; nil if it remembers nothing.
    func remembered() -> Result<[UInt8], any Error>? {
        do { return try recall().map { .success($0) } } catch { return .failure(error) }
    }

    /// - Parameter wasThere: whether the file existed before; nil asks the store.
    func reading(wasThere: Bool? = nil) throws -> Reading {
        do {
            guard let (bytes, state) = try PrivateFile.read(path) else {
                let isLost = wasThere ?? (remembered() != nil)
                return Reading(
                    book: isLost ? .closed : AccessBook(), state: nil, fingerprint: isLost ? "lost" : "none", bytes: [],
                    isLost: isLost)
            }
            return Reading(
                book: try AccessBook(json: bytes), state: state,
                fingerprint: Fingerprint.sha256(String(decoding: bytes, as: UTF8.self)), bytes: bytes, isLost: false)
        } catch let error as FileError {
            throw Failure(description: error.description)
        } catch {
            throw Failure(description: "\(path) does not read: \(error)")
        }
    }

    /// Changes the rules. If the file was lost, it starts with rules that let nobody in. A lock keeps concurrent commands from losing
    /// each other's changes.
    package func change<Result>(_ body: (inout AccessBook) throws -> Result) throws -> Result {
        try locked {
            var book = try reading().book
            let result = try body(&book)
            try write(book)
            return result
        }
    }

    /// Restores the rules from the store if the file was lost. Returns whether it did.
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

    /// Replaces the file atomically. Its owner stays: the server must be able to read what root writes.
    private func write(_ book: AccessBook) throws {
        try write(book.json())
    }

    private func write(_ bytes: [UInt8]) throws {
        do { try PrivateFile.replace(path, with: bytes) } catch {
            throw Failure(description: error.description)
        }
    }
}

extension AccessBook {
    init(json: [UInt8]) throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        self = try decoder.decode(AccessBook.self, from: Data(json))
    }

    func json() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return [UInt8](try encoder.encode(self))
    }
}
