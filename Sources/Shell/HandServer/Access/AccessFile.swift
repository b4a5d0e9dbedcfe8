import Disk
import EventLoop
import FoundationEssentials
import Glibc

/// The file of a server's `AccessBook`. Commands write it, and the server reads it whenever it changes.
package struct AccessFile: Sendable {
    package let path: String
    /// Returns the rules that the store keeps, or nil if there never were any.
    private let recall: @Sendable () throws -> [UInt8]?
    let remember: (@Sendable ([UInt8]) throws -> Void)?

    /// - Parameter folder: the folder of the server's store.
    package init(
        folder: String, recall: @escaping @Sendable () throws -> [UInt8]? = { nil },
        remember: (@Sendable ([UInt8]) throws -> Void)? = nil
    ) {
        path = folder + "/access.json"
        self.recall = recall
        self.remember = remember
    }

    /// The file's contents at one moment.
    struct Reading {
        let book: AccessBook
        /// The file's state, or nil if there was no file.
        let state: FileState?
        let fingerprint: String
        /// The file's bytes, or none if there was no file.
        let bytes: [UInt8]
        /// Whether the file existed before and is now missing.
        let isLost: Bool
    }

    /// Returns the file's rules, or the default rules if there never was a file.
    ///
    /// - Throws: `FileError` if the file cannot be read: nobody may be let in by mistake. `Lost` if the file
    ///   existed before and is now missing.
    package func read() throws -> AccessBook {
        let reading = try reading()
        if reading.isLost { throw Lost() }
        return reading.book
    }

    /// The error if the file existed before and is now missing.
    package struct Lost: Error {}

    var isThere: Bool { (try? FileState(at: path)) != nil }

    /// Returns the file's bytes, or nil if there is no file.
    package func bytes() throws -> [UInt8]? {
        try PrivateFile.read(path)?.bytes
    }

    package func fingerprint() throws -> String { try reading().fingerprint }

    /// Returns the rules that the store keeps, or the error in reading them; nil if it keeps none.
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
            throw error
        } catch {
            throw FileError(
                description: "\(path) is damaged: it holds no access rules in JSON. Put back a good copy; or move it "
                    + "away, and restore what the store remembers: hand token restore --data "
                    + PrivateFile.folder(of: path))
        }
    }

    /// Changes the rules. A lock keeps concurrent commands from losing each other's changes.
    ///
    /// - Parameter waitsLong: whether to wait for another command that changes the rules, as long as it takes. A server
    ///   must not stand still meanwhile.
    /// - Throws: `Lost` if the file was lost: a new one would replace what the store remembers.
    package func change<Result>(
        waitsLong: Bool = true, _ body: (inout AccessBook) throws -> Result
    ) throws -> Result {
        try locked(waitsLong: waitsLong) {
            var book = try read()
            let result = try body(&book)
            try PrivateFile.replace(path, with: book.json())
            return result
        }
    }

    /// Restores the rules from the store if the file was lost. Returns whether rules were restored.
    ///
    /// - Parameter isEmpty: whether to forget the rules, and begin with some that let nobody in.
    package func restore(isEmpty: Bool = false) throws -> Bool {
        try locked {
            guard try reading().isLost, let rules = try isEmpty ? AccessBook.closed.json() : remembered()?.get() else {
                return false
            }
            try PrivateFile.replace(path, with: rules)
            return true
        }
    }

    private func locked<Result>(waitsLong: Bool = true, _ body: () throws -> Result) throws -> Result {
        try PrivateFile.makeFolder(PrivateFile.folder(of: path))
        let lock = try PrivateFile.open(path + ".lock", O_RDWR)
        defer { close(lock) }
        var attempts = waitsLong ? Int.max : 20
        while flock(lock, waitsLong ? LOCK_EX : LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            attempts -= 1
            guard code == EINTR || code == EWOULDBLOCK, attempts > 0 else {
                throw FileError(description: "cannot lock \(path): \(String(cString: strerror(code)))")
            }
            if code == EWOULDBLOCK { usleep(5_000) }
        }
        return try body()
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
