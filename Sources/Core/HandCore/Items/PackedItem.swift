/// An item as lists store it: its bytes on the wire (`Protocol.md`, “Bytes”) in one allocation, and its hash.
///
/// It takes 24 bytes, plus an allocation that is 16 bytes larger than its content on the wire. It is compared, hashed,
/// stored and sent without decoding. Only code that reads the content makes an `Item` of it, which copies the texts.
package struct PackedItem: Sendable {
    package let id: ItemID
    let hash: UInt64
    // `nonisolated(unsafe)` is safe: the bytes are written once, before the object is shared.
    nonisolated(unsafe) private let storage: Storage

    /// Kind and level, size and body, one after the other. The size determines where the bytes end, so no separate
    /// count is stored.
    private final class Storage: ManagedBuffer<Void, UInt8> {
        static func make(_ count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) -> Storage {
            let storage = unsafeDowncast(create(minimumCapacity: count) { _ in }, to: Storage.self)
            storage.withUnsafeMutablePointerToElements { fill(UnsafeMutableRawBufferPointer(start: $0, count: count)) }
            return storage
        }
    }

    /// - Parameter content: kind and level, size and body of an item as on the wire, already validated.
    package init(id: ItemID, checked content: UnsafeRawBufferPointer) {
        self.id = id
        hash = Self.hash(id, content)
        storage = .make(content.count) { $0.copyMemory(from: content) }
    }

    package init(_ item: Item) {
        let content = item.content
        let (kind, size) = (UInt64(content.kind.rawValue) << 4 | UInt64(item.level), content.bodySize)
        let count = kind.varintSize + UInt64(size).varintSize + size
        id = item.id
        storage = .make(count) { bytes in
            var position = 0
            bytes.put(varint: kind, &position)
            bytes.put(varint: UInt64(size), &position)
            bytes.put(content, &position)
            assert(position == count, "an item's size is not that of its bytes")
        }
        hash = storage.withUnsafeMutablePointerToElements {
            Self.hash(item.id, UnsafeRawBufferPointer(start: $0, count: count))
        }
    }

    /// Calls `body` with kind and level, size and body as on the wire. It is not generic: generic functions are
    /// slow when another module calls them.
    package func forContentBytes(_ body: (UnsafeRawBufferPointer) -> Void) { withContentBytes(body) }

    /// The number of bytes that `forContentBytes` passes.
    package var contentCount: Int { withContentBytes { $0.count } }

    private func withContentBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        // The storage lives as long as this value.
        let start = UnsafeRawPointer(storage.withUnsafeMutablePointerToElements { $0 })
        defer { withExtendedLifetime(storage) {} }
        let header = Header(start)
        return body(UnsafeRawBufferPointer(start: start, count: header.length + header.size))
    }

    private func withBody<Result>(_ body: (Content.Kind, Slice<UnsafeRawBufferPointer>) -> Result) -> Result {
        withContentBytes { bytes in
            // The bytes are never empty: the kind takes at least one.
            let header = Header(bytes.baseAddress!)
            return body(header.kind, bytes[header.length...])
        }
    }

    /// The bytes before the body: the kind and the level, and the body's size.
    private struct Header {
        let kind: Content.Kind
        let level: UInt8
        let size: Int
        /// The number of bytes of the header itself.
        let length: Int

        /// Two varints of ten bytes.
        private static let longest = 20

        @inline(__always)
        init(_ start: UnsafeRawPointer) {
            let bytes = UnsafeRawBufferPointer(start: start, count: Self.longest)
            var position = 0
            let first = bytes.varint(at: &position)
            kind = Content.Kind(rawValue: UInt32(truncatingIfNeeded: first >> 4))
            level = UInt8(truncatingIfNeeded: first & 15)
            size = Int(truncatingIfNeeded: bytes.varint(at: &position))
            length = position
        }
    }

    package var item: Item { Item(id: id, level: level, content: content) }

    package var content: Content { withBody { Content($0, body: $1) ?? .unknown($0, [UInt8]($1)) } }

    package var kind: Content.Kind { measure.kind }

    /// O(1).
    package var level: UInt8 {
        defer { withExtendedLifetime(storage) {} }
        // The level is in the low bits of the first byte.
        return storage.withUnsafeMutablePointerToElements { $0.pointee } & 15
    }

    /// Whether the task is ticked; nil if the item is no task. O(1).
    package var isDone: Bool? { withBody { kind, body in kind == .task ? body.first.map { $0 == 1 } : nil } }

    /// `Content.size`, found without making the content. O(1).
    package var size: Int { measure.size }

    /// Roughly how many bytes of memory it takes. O(1).
    package var bytesInMemory: Int { size + 48 }

    /// The content's kind and `Content.size`. O(1).
    package var measure: (kind: Content.Kind, size: Int) {
        withBody { kind, body in
            switch kind {
            case .task where !body.isEmpty: return (kind, body.count - 1)
            case .link where !body.isEmpty:
                var texts = body
                let count = texts.takeVarint()
                return (kind, count <= texts.count ? texts.count : body.count)
            default: return (kind, body.count)
            }
        }
    }

    /// Returns FNV-1a of the item's bytes on the wire, mixed again (MurmurHash3's 64-bit finalizer), modulo 2⁶¹ − 1.
    private static func hash(_ id: ItemID, _ content: UnsafeRawBufferPointer) -> UInt64 {
        var state: UInt64 = 0xCBF2_9CE4_8422_2325
        let prime: UInt64 = 0x0000_0100_0000_01B3
        for shift in stride(from: UInt64(0), to: 64, by: 8) { state = (state ^ (id.rawValue >> shift & 0xFF)) &* prime }
        for byte in content { state = (state ^ UInt64(byte)) &* prime }
        state = (state ^ (state >> 33)) &* 0xFF51_AFD7_ED55_8CCD
        state = (state ^ (state >> 33)) &* 0xC4CE_B9FE_1A85_EC53
        return (state ^ state >> 33) % Digest.modulus
    }
}

extension PackedItem: Equatable {
    package static func == (left: PackedItem, right: PackedItem) -> Bool {
        guard left.id == right.id, left.hash == right.hash else { return false }
        if left.storage === right.storage { return true }
        return left.withContentBytes { some in right.withContentBytes { others in some.elementsEqual(others) } }
    }
}

extension Item {
    /// The item's hash in a list's digest (`Protocol.md`, “Digest”).
    package var hash: UInt64 { PackedItem(self).hash }
}

extension PackedItem: Summarized {
    package var summary: HandSummary { HandSummary(count: 1, digest: hash, power: Digest.base) }
}

// MARK: - Bytes

extension Content {
    /// The size of the content's body on the wire, in bytes (`Protocol.md`, “Bytes”).
    package var bodySize: Int {
        switch self {
        case .card: 1
        case .note(let text), .heading(let text): text.utf8.count
        case .task(let text, _): 1 + text.utf8.count
        case .link(let text, let url):
            UInt64(text.utf8.count).varintSize + text.utf8.count + url.utf8.count
        case .unknown(_, let bytes): bytes.count
        }
    }

    /// Decodes a body; fails if it is not a body of that kind, or the kind is unknown.
    fileprivate init?(_ kind: Kind, body: Slice<UnsafeRawBufferPointer>) {
        var rest = body
        switch kind {
        case .card:
            guard rest.count == 1, let card = Card(code: rest[rest.startIndex]) else { return nil }
            self = .card(card)
        case .note: self = .note(String(decoding: rest, as: UTF8.self))
        case .heading: self = .heading(String(decoding: rest, as: UTF8.self))
        case .task:
            guard let flag = rest.popFirst() else { return nil }
            self = .task(String(decoding: rest, as: UTF8.self), done: flag == 1)
        case .link:
            guard !rest.isEmpty else { return nil }
            let size = Int(truncatingIfNeeded: rest.takeVarint())
            guard size >= 0, size <= rest.count else { return nil }
            self = .link(
                String(decoding: rest.prefix(size), as: UTF8.self),
                url: String(decoding: rest.dropFirst(size), as: UTF8.self))
        default: return nil
        }
    }
}

extension UnsafeMutableRawBufferPointer {
    @inlinable
    package func put(byte: UInt8, _ position: inout Int) {
        self[position] = byte
        position += 1
    }

    /// Writes seven bits per byte, the lowest first; the top bit is set if more bytes follow.
    @inlinable @inline(__always)
    package func put(varint value: UInt64, _ position: inout Int) {
        var rest = value
        while rest >= 0x80 {
            put(byte: UInt8(truncatingIfNeeded: rest) | 0x80, &position)
            rest >>= 7
        }
        put(byte: UInt8(truncatingIfNeeded: rest), &position)
    }

    fileprivate func put(_ text: String, _ position: inout Int) {
        let count = text.utf8.count
        UnsafeMutableRawBufferPointer(rebasing: self[position..<position + count]).copyBytes(from: text.utf8)
        position += count
    }

    fileprivate func put(_ content: Content, _ position: inout Int) {
        switch content {
        case .card(let card): put(byte: card.code, &position)
        case .note(let text), .heading(let text): put(text, &position)
        case .task(let text, let done):
            put(byte: done ? 1 : 0, &position)
            put(text, &position)
        case .link(let text, let url):
            put(varint: UInt64(text.utf8.count), &position)
            put(text, &position)
            put(url, &position)
        case .unknown(_, let bytes):
            UnsafeMutableRawBufferPointer(rebasing: self[position..<position + bytes.count]).copyBytes(from: bytes)
            position += bytes.count
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Reads a varint, and moves `position` behind it. If the varint has no end, it ends with the bytes.
    @inline(__always)
    fileprivate func varint(at position: inout Int) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while shift < 64, position < count {
            let next = self[position]
            position += 1
            value |= UInt64(next & 0x7F) << shift
            if next < 0x80 { break }
            shift += 7
        }
        return value
    }
}

extension Slice<UnsafeRawBufferPointer> {
    /// Consumes a varint at the front.
    fileprivate mutating func takeVarint() -> UInt64 {
        var position = 0
        defer { removeFirst(position) }
        return UnsafeRawBufferPointer(rebasing: self).varint(at: &position)
    }
}

extension UInt64 {
    /// The size of this number as a varint, in bytes: seven bits per byte.
    package var varintSize: Int { self == 0 ? 1 : (70 - leadingZeroBitCount) / 7 }
}
