import HandWire

enum WebSocketTarget {
    /// Everything that a reader reports, with the content in one piece.
    private struct Seen: Equatable {
        var content: [UInt8] = []
        var others: [WebSocketReader.Event] = []
        var end: WebSocketEnd?
    }

    /// In whatever pieces bytes arrive, and however much room there is, they say the same.
    static func run(_ bytes: [UInt8]) throws {
        let whole = seen([bytes[...]], room: 4_096)
        try check(seen(bytes.map { [$0] }, room: 4_096) == whole, "single bytes say something else")
        try check(seen([bytes[...]], room: 1) == whole, "with little room, the bytes say something else")
        try check(whole.content.count <= bytes.count, "there is more content than there were bytes")
        if let end = whole.end { try check(end.bytes.count <= WebSocketFrame.maxControlBytes, "an end is too long") }
    }

    private static func seen(_ pieces: [ArraySlice<UInt8>], room size: Int) -> Seen {
        var (reader, seen) = (WebSocketReader(), Seen())
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
        defer { room.deallocate() }
        for piece in pieces where seen.end == nil {
            piece.withUnsafeBytes { bytes in
                var rest = bytes
                do throws(WebSocketEnd) {
                    while let event = try reader.read(&rest, into: room) {
                        if case .content(let count) = event {
                            seen.content += room[..<count]
                        } else {
                            seen.others.append(event)
                        }
                    }
                } catch {
                    seen.end = error
                }
            }
        }
        return seen
    }
}
