import HandWire

enum FrameTarget {
    /// The first bytes choose the direction and the pieces in which the others arrive.
    static func run(_ bytes: [UInt8]) throws {
        var input = Input(bytes)
        let isUp = input.flag()
        let pieces = (0..<3).map { _ in 1 + input.below(64) }
        let stream = input.rest()
        let whole = cut(stream, [max(1, stream.count)])
        try check(whole == cut(stream, pieces), "the pieces in which bytes arrive change what is read")
        for body in whole.bodies { if isUp { try up(body) } else { try down(body) } }
    }

    private struct Cut: Equatable {
        var bodies: [[UInt8]] = []
        var error: WireError?
    }

    private static func cut(_ stream: [UInt8], _ pieces: [Int]) -> Cut {
        var reader = FrameReader(limit: 1 << 16)
        var cut = Cut()
        var position = 0
        var next = 0
        while position < stream.count, cut.error == nil {
            let end = min(stream.count, position + pieces[next % pieces.count])
            next += 1
            do {
                let piece = Array(stream[position..<end])
                try withBytes(piece) { (all) throws(WireError) in
                    try reader.read(all) { (body) throws(WireError) -> Bool in
                        cut.bodies.append(Array(body))
                        return true
                    }
                }
            } catch { cut.error = error }
            position = end
        }
        return cut
    }

    private static func up(_ body: [UInt8]) throws {
        guard let message = try? body.withUnsafeBytes({ try UpMessage($0) }) else { return }
        // A newer client's hello may have fields that this version does not know.
        if case .hello(let hello) = message, hello.highestVersion > ProtocolVersion.highest { return }
        try check(message.frame == Frame.around(body), "a message has two forms: \(message)")
    }

    private static func down(_ body: [UInt8]) throws {
        guard let message = try? body.withUnsafeBytes({ try DownMessage($0) }) else { return }
        try check(message.frame == Frame.around(body), "a message has two forms: \(message)")
    }
}

/// The standard library's closure does not have a typed `throws`.
func withBytes<Value>(
    _ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(WireError) -> Value
) throws(WireError) -> Value {
    try bytes.withUnsafeBytes { all in Result { () throws(WireError) in try body(all) } }.get()
}
