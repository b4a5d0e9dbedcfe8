import Disk
import HandSync

/// The tables whose rows end in a checksum of the columns before it.
package enum CheckedTable: String, CaseIterable {
    case lists, commits, authors
    case deletedLists = "deleted_lists"

    /// The columns that the checksum covers, in its order. The order is part of the format.
    package var columns: [String] {
        switch self {
        case .lists: ["number", "name", "log_id", "rules", "deck_seed", "floor"]
        case .commits: ["list", "last", "frames"]
        case .authors: ["number", "client", "client_high", "client_low", "person"]
        case .deletedLists: ["number", "list", "name", "time", "person"]
        }
    }

    /// All columns, for `SELECT` and for `INSERT`; the checksum comes last.
    var selection: String { Self.statements[self]?.selection ?? "" }

    /// The statement that inserts a row from the values of `columns`.
    var insertion: String { Self.statements[self]?.insertion ?? "" }

    /// Put together once.
    private static let statements = Dictionary(
        uniqueKeysWithValues: allCases.map { table in
            let selection = (table.columns + ["checksum"]).joined(separator: ", ")
            let places = Array(repeating: "?", count: table.columns.count + 1).joined(separator: ", ")
            let insertion = "INSERT INTO \(table.rawValue) (\(selection)) VALUES (\(places))"
            return (table, (selection: selection, insertion: insertion))
        })

    /// Returns the values of `columns`, followed by their checksum.
    func arguments(_ values: [SQLiteValue]) -> [SQLiteValue] {
        values + [.integer(checksum(values))]
    }

    package func checksum(_ values: some Sequence<SQLiteValue>) -> Int64 {
        var checksum = Checksum(of: rawValue)
        for value in values { checksum.add(value) }
        return checksum.stored
    }
}

extension SQLiteRow {
    /// Compares the checksum at the end of a row that was read by `CheckedTable.selection`.
    ///
    /// - Throws: `StoreError.damaged`, naming `what`.
    func check(_ table: CheckedTable, _ what: @autoclosure () -> String) throws {
        var checksum = Checksum(of: table.rawValue)
        for column in 0..<count - 1 {
            let (value, blob) = valueOrBlob(column)
            if let blob { checksum.add(blob: blob) } else { checksum.add(value) }
        }
        withExtendedLifetime(self) {}
        guard value(count - 1) == .integer(checksum.stored) else {
            throw StoreError.damaged("\(what()) has another checksum")
        }
    }
}

/// A 64-bit checksum that detects damaged values: FNV-1a, eight bytes at a time, with a shift that mixes the upper half
/// of the bits into the lower. Each step is invertible, so two rows that differ within one word never have the same
/// checksum; other damage goes unnoticed once in 2⁶⁴. It detects faults, not forgery.
struct Checksum {
    private var state: UInt64 = 0xCBF2_9CE4_8422_2325

    init(of table: String) {
        add(.text(table))
    }

    var stored: Int64 { Int64(bitPattern: state) }

    private mutating func add(word: UInt64) {
        state = (state ^ word) &* 0x0000_0100_0000_01B3
        state ^= state >> 32
    }

    /// Adds the kind and the length first, so that the next value cannot be mistaken for the end of this one.
    mutating func add(_ value: SQLiteValue) {
        switch value {
        case .null: add(word: 0)
        case .integer(let number):
            add(word: 1)
            add(word: UInt64(bitPattern: number))
        case .real(let number):
            add(word: 2)
            add(word: number.bitPattern)
        case .text(var text):
            add(word: 3)
            text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
        case .bytes(let bytes): bytes.withUnsafeBytes { add(blob: $0) }
        }
    }

    mutating func add(blob: UnsafeRawBufferPointer) {
        add(word: 4)
        add(blob)
    }

    private mutating func add(_ bytes: UnsafeRawBufferPointer) {
        add(word: UInt64(bytes.count))
        let whole = bytes.count & ~7
        for offset in stride(from: 0, to: whole, by: 8) {
            add(word: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
        }
        guard whole < bytes.count else { return }
        var last: UInt64 = 0
        for byte in bytes[whole...].reversed() { last = last << 8 | UInt64(byte) }
        add(word: last)
    }
}
