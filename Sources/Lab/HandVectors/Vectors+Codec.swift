import HandFormats
import HandWire

// Values as bytes and back.

extension Vectors {
    /// Answers a question. If the question has a value, the answer is the value's `hex`; if it has `type` and `hex`,
    /// the answer is the value.
    ///
    /// - Throws: `FormatError` for a malformed question, `WireError` for malformed bytes.
    static func codec(_ question: JSONField) throws -> Members {
        guard question["type"].isPresent else { return [.init("hex", .string(Hex.text(try encoded(question))))] }
        let bytes = try question["hex"].hexBytes()
        let type = try question["type"].choice([
            "item": Coded.item, "delta": .delta, "commit": .commit, "rules": .rules, "frame": .frame,
        ])
        return switch type {
        case .item: [.init("item", JSON.item(try whole(bytes, "item") { reader in try reader.item() }))]
        case .delta: [.init("delta", JSON.delta(try whole(bytes, "delta") { reader in try reader.delta() }))]
        case .commit: [.init("commit", JSON.commit(try whole(bytes, "commit") { reader in try reader.commit() }))]
        case .rules: [.init("rules", JSON.rules(try whole(bytes, "rules") { reader in try reader.rules() }))]
        case .frame: try message(in: bytes, question)
        }
    }

    /// The types that can be decoded.
    private enum Coded {
        case item, delta, commit, rules
        /// A message with its length, up or down.
        case frame
    }

    private static func encoded(_ question: JSONField) throws(FormatError) -> [UInt8] {
        var writer = WireWriter()
        if question["item"].isPresent {
            writer.item(try JSON.item(from: question["item"]))
        } else if question["delta"].isPresent {
            writer.delta(try JSON.delta(from: question["delta"]))
        } else if question["commit"].isPresent {
            writer.commit(try JSON.commit(from: question["commit"]))
        } else if question["rules"].isPresent {
            writer.rules(try JSON.rules(from: question["rules"]))
        } else {
            throw question.mismatch("one of the fields item, delta, commit, rules, type")
        }
        return writer.bytes
    }

    /// Decodes a value that takes all of the bytes.
    private static func whole<Value>(
        _ bytes: [UInt8], _ name: String, _ read: (inout WireReader) throws -> Value
    ) throws -> Value {
        try bytes.withUnsafeBytes { buffer in
            var reader = WireReader(buffer)
            let value = try read(&reader)
            try reader.expectEnd(of: name)
            return value
        }
    }

    /// Returns the name and the fields of the message in a frame that takes all of the bytes.
    private static func message(in bytes: [UInt8], _ question: JSONField) throws -> Members {
        let isUp = try question["direction"].choice(["up": true, "down": false])
        var found: Members?
        var used = 0
        var frames = FrameReader(limit: Limits().frameBytes)
        try bytes.withUnsafeBytes { buffer in
            try frames.read(buffer) { (body) throws(WireError) in
                found = isUp ? Self.members(of: try UpMessage(body)) : Self.members(of: try DownMessage(body))
                used = Frame.size(ofBody: body.count)
                return false
            }
        }
        guard let found else { throw WireError.truncated(field: "frame") }
        guard used == bytes.count else { throw WireError.trailingBytes(message: "frame", count: bytes.count - used) }
        return found
    }
}
