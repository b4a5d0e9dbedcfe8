import Disk
import Glibc
import HandSync

/// Distinguishes a damaged log from one whose end was not written yet when the power failed, and notices a database
/// that is shorter than its log says.
///
/// SQLite reads its write-ahead log (https://www.sqlite.org/fileformat2.html#walformat) up to the first frame whose
/// checksum is wrong, and takes that for the end: it would silently drop everything after a flipped bit. But each
/// transaction is flushed before the next begins, and each frame's checksum continues the one stored in the previous
/// frame. So a good frame directly after the last frame of a transaction proves that this transaction, and all before
/// it, had reached the disk. If a frame before that is bad, the log is damaged.
///
/// Two kinds of damage go undetected. Damage within the last transaction of the log, or within the frame headers (of 24
/// bytes) that end the one before it, looks like a transaction that was cut short. And nothing can be said about a log
/// that was written without flushes; see `DurabilityMark`.
struct LogCheck {
    static let headerSize = 32
    static let frameHeaderSize = 24
    /// The bytes that a disk writes entirely or not at all.
    private static let sectorSize = 512

    private let isBigEndian: Bool
    private let salts: [UInt8]
    /// The checksum stored in the header or frame before the next frame.
    private var sum: (UInt32, UInt32)
    /// Whether anything before the next frame was bad.
    private var isBroken: Bool
    /// Whether the log's header is bad. Any good frame is proof of damage then: the header is flushed before the first
    /// frame is written.
    private let isHeaderBad: Bool
    /// Whether the frame before the next one is the last of its transaction.
    private var isAtEnd = false
    /// How many pages the database has after the last transaction before anything bad, and which of them the log has.
    private var size = 0
    private var pages: Set<Int> = []

    /// Checks the database at `path` and its log, if there is one and each transaction in it was flushed. Never writes
    /// anything.
    ///
    /// - Throws: `StoreError.damaged`.
    static func check(_ path: String) throws {
        guard DurabilityMark(folder: PrivateFile.folder(of: path)).isSet else { return }
        switch try StoreFile.whileInPlace(path, { try findLastingDamage(path) }) {
        case nil: return
        case .truncated:
            throw StoreError.damaged("\(path) is shorter than it was, and what is missing is not in its log")
        case .log:
            throw StoreError.damaged(
                "\(path)-wal is damaged in its middle. "
                    + "Without a backup, moving that file away discards what is only in it"
            )
        }
    }

    private static func findLastingDamage(_ path: String) throws -> Damage? {
        let file = LogFile(descriptor: open(path + "-wal", O_RDONLY | O_CLOEXEC), path: path + "-wal")
        guard file.descriptor >= 0 else { return nil }
        defer { close(file.descriptor) }
        var damage: Damage?
        // While a server writes, a log may look damaged for a moment.
        for _ in 0..<3 {
            do { damage = try findDamage(file, database: path) } catch { throw StoreError.failed("\(error)") }
            if damage == nil { return nil }
        }
        return damage
    }

    private enum Damage {
        case log
        /// The end of the database is missing.
        case truncated
    }

    private static func findDamage(_ file: LogFile, database: String) throws -> Damage? {
        let start = try file.read(headerSize + frameHeaderSize, at: 0)
        guard start.count == headerSize + frameHeaderSize else { return nil }
        let header = Array(start[..<headerSize])
        let salts = Array(start[headerSize + 8..<headerSize + 16])
        let isBigEndian = header[3] & 1 == 1
        if isGood(header) {
            let check = LogCheck(header, salts: Array(header[16..<24]), isBigEndian: isBigEndian, isHeaderBad: false)
            return try check.findDamage(file, database, pageSize: number(header, 8))
        }
        if isRestarted(header, over: salts) { return nil }
        // The page size and the byte order may be what is damaged.
        let known = pageSize(of: database)
        for pageSize in Set([number(header, 8), known]) where canBeSize(pageSize) {
            for isBigEndian in [false, true] {
                let check = LogCheck(header, salts: salts, isBigEndian: isBigEndian, isHeaderBad: true)
                if let damage = try check.findDamage(file, database, pageSize: pageSize) { return damage }
            }
        }
        return nil
    }

    private init(_ header: [UInt8], salts: [UInt8], isBigEndian: Bool, isHeaderBad: Bool) {
        self.isBigEndian = isBigEndian
        self.salts = salts
        self.isHeaderBad = isHeaderBad
        isBroken = isHeaderBad
        sum = (UInt32(Self.number(header, 24)), UInt32(Self.number(header, 28)))
    }

    // MARK: Frames

    /// Reads frame after frame, about a megabyte at a time.
    private func findDamage(_ file: LogFile, _ database: String, pageSize: Int) throws -> Damage? {
        var check = self
        var offset = Self.headerSize
        let size = Self.frameHeaderSize + pageSize
        while true {
            let piece = try file.read(max(1, (1 << 20) / size) * size, at: offset)
            guard piece.count >= size else {
                return try check.isTruncated(database, pageSize: pageSize) ? .truncated : nil
            }
            let isFound = piece.withUnsafeBytes { piece in
                for start in stride(from: 0, through: piece.count - size, by: size) {
                    let frame = UnsafeRawBufferPointer(rebasing: piece[start..<start + size])
                    if check.isProof(frame, at: offset + start) { return true }
                }
                return false
            }
            if isFound { return .log }
            offset += piece.count
        }
    }

    /// Processes the next frame; returns whether it proves that the log is damaged.
    private mutating func isProof(_ frame: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        let stored = (Self.number(frame, 16), Self.number(frame, 20))
        let isOurs = frame[8..<16].elementsEqual(salts)
        var isGood = false
        if isOurs {
            var found = Self.checksum(frame[..<8], isBigEndian, from: sum)
            found = Self.checksum(frame[Self.frameHeaderSize...], isBigEndian, from: found)
            isGood = (Int(found.0), Int(found.1)) == stored && Self.number(frame, 0) != 0
        }
        if isGood && isBroken && (isAtEnd || isHeaderBad) { return true }
        isBroken = isBroken || !isGood
        if !isBroken {
            pages.insert(Self.number(frame, 0))
            if Self.number(frame, 4) != 0 { size = Self.number(frame, 4) }
        }
        // An incomplete frame may have a complete header; but if that spans two sectors, half of it can be an older
        // frame's.
        let isWhole = offset % Self.sectorSize <= Self.sectorSize - Self.frameHeaderSize
        isAtEnd = Self.number(frame, 4) != 0 && isOurs && (isGood || isWhole)
        sum = (UInt32(stored.0), UInt32(stored.1))
        return false
    }

    /// Returns whether there are pages that neither the database nor the log has. SQLite would read zeros there.
    private func isTruncated(_ database: String, pageSize: Int) throws -> Bool {
        let end = (try FileState(at: database)?.size ?? 0) / pageSize
        guard end < size else { return false }
        // SQLite never writes the page of its locks (https://www.sqlite.org/fileformat2.html#the_lock_byte_page).
        let lockPage = (1 << 30) / pageSize + 1
        return (end + 1...size).contains { !pages.contains($0) && $0 != lockPage }
    }

    // MARK: Header

    private static func isGood(_ header: [UInt8]) -> Bool {
        let (magic, pageSize) = (number(header, 0), number(header, 8))
        return magic & ~1 == 0x377F_0682 && canBeSize(pageSize) && Array(header[24...]) == sealed(header)
    }

    private static func canBeSize(_ pageSize: Int) -> Bool {
        (512...65_536).contains(pageSize) && pageSize & (pageSize - 1) == 0
    }

    private static func sealed(_ header: [UInt8]) -> [UInt8] {
        let sum = header.withUnsafeBytes { checksum($0[..<24], header[3] & 1 == 1, from: (0, 0)) }
        return bytes(sum.0) + bytes(sum.1)
    }

    /// Returns whether this header is the beginning of a new one over the end of an old one, to which the first frame
    /// belongs: SQLite was restarting the log, so everything in it is in the database too.
    private static func isRestarted(_ header: [UInt8], over salts: [UInt8]) -> Bool {
        let count = UInt32(number(header, 12)) &- 1
        var old = Array(header[..<12]) + bytes(count) + salts
        old += sealed(old)
        // The first salt is incremented; the second is new, and the checksum covers both.
        let new = header[..<16] + bytes(UInt32(number(salts, 0)) &+ 1) + header[20..<24] + sealed(header)
        return (16..<headerSize).contains { header[..<$0] == new[..<$0] && header[$0...] == old[$0...] }
    }

    private static func pageSize(of database: String) -> Int {
        let start = (try? PrivateFile.read(database, upTo: 18))??.bytes ?? []
        guard start.count == 18 else { return 0 }
        let size = Int(start[16]) << 8 | Int(start[17])
        return size == 1 ? 65_536 : size
    }

    // MARK: Numbers

    /// Reads four bytes, the highest first, as everything is stored except the words that the checksum adds up.
    private static func number(_ bytes: some RandomAccessCollection<UInt8>, _ offset: Int) -> Int {
        bytes.dropFirst(offset).prefix(4).reduce(0) { $0 << 8 | Int($1) }
    }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    /// Returns the log's own checksum, over a multiple of eight bytes.
    private static func checksum(
        _ bytes: Slice<UnsafeRawBufferPointer>, _ isBigEndian: Bool, from start: (UInt32, UInt32)
    ) -> (UInt32, UInt32) {
        let bytes = UnsafeRawBufferPointer(rebasing: bytes)
        var sum = start
        for offset in stride(from: 0, to: bytes.count, by: 8) {
            let first = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            let second = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
            sum.0 &+= (isBigEndian ? UInt32(bigEndian: first) : UInt32(littleEndian: first)) &+ sum.1
            sum.1 &+= (isBigEndian ? UInt32(bigEndian: second) : UInt32(littleEndian: second)) &+ sum.0
        }
        return sum
    }
}

private struct LogFile {
    let descriptor: Int32
    let path: String

    /// Returns bytes; fewer than requested only at the end.
    func read(_ count: Int, at offset: Int) throws(FileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let part = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress?.advanced(by: done), count - done, off_t(offset + done))
            }
            if part < 0, errno == EINTR { continue }
            guard part >= 0 else { throw FileError("read", path) }
            if part == 0 { break }
            done += part
        }
        return Array(bytes[..<done])
    }
}
