import HandCore
import HandWire

extension Hand {
    /// Passes the items to `body` as bytes, in parts of about `size` bytes.
    package func forEachPart(about size: Int, _ body: (Int, [UInt8]) throws -> Void) rethrows {
        var writer = WireWriter(reserving: size + 1024)
        var part = 0
        for item in packedItems {
            writer.item(item)
            if writer.count >= size {
                try body(part, writer.bytes)
                writer.removeAll()
                part += 1
            }
        }
        if writer.count > 0 { try body(part, writer.bytes) }
    }
}

extension PackedItem {
    package static func all(in row: UnsafeRawBufferPointer) throws -> [PackedItem] {
        var items: [PackedItem] = []
        var reader = WireReader(row)
        while reader.remaining > 0 { items.append(try reader.packedItem()) }
        return items
    }
}

extension TypedNumber {
    package var stored: SQLiteValue { rawValue.stored }
}

extension SQLiteRow {
    package func number<Number: TypedNumber>(_ column: Int) throws(SQLiteError) -> Number {
        Number(rawValue: try bits(column))
    }
}

extension UInt64 {
    package var stored: SQLiteValue { SQLiteValue(bits: self) }
}
