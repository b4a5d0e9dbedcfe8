import HandCore

/// Why bytes cannot be decoded: which field, what was expected, and what was found.
public enum WireError: Error, Equatable, Sendable {
    /// The bytes end inside a field.
    case truncated(field: String)
    /// There are bytes after the last field of a message.
    case trailingBytes(message: String, count: Int)
    /// A varint is not in its shortest form, or exceeds 53 bits.
    case badVarint(field: String)
    case tooLarge(field: String, limit: Int, found: UInt64)
    case invalidUTF8(field: String)
    /// A name is not in Unicode's composed form.
    case notComposed(field: String)
    /// A number that has no meaning here.
    case unknownValue(field: String, found: UInt64)
    /// The first four bytes of a connection are not `HAND`.
    case notHand
    /// A hello with unsupported versions.
    case noCommonVersion(lowest: Int, highest: Int)
    /// The components do not form a delta.
    case malformedDelta(Delta.Malformed)
    /// The components are a delta, but not in normal form.
    case notNormalForm
}

extension WireError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .truncated(let field): "\(field): the message ends inside it"
        case .trailingBytes(let message, let count): "\(message): expected its end, found \(count) more bytes"
        case .badVarint(let field): "\(field): expected a number of at most 2^53 - 1 in its shortest form"
        case .tooLarge(let field, let limit, let found): "\(field): expected at most \(limit), found \(found)"
        case .invalidUTF8(let field): "\(field): expected UTF-8 text"
        case .notComposed(let field): "\(field): expected a name in Unicode's composed form (NFC)"
        case .unknownValue(let field, let found): "\(field): \(found) stands for nothing in this version"
        case .notHand: "expected a hello that starts with the bytes HAND; this is another protocol"
        case .noCommonVersion(let lowest, let highest):
            "expected a client that speaks \(Self.versions(ProtocolVersion.lowest, ProtocolVersion.highest)) of the protocol, "
                + "found \(Self.versions(lowest, highest)). Update the \(highest < ProtocolVersion.lowest ? "client" : "server")"
        case .malformedDelta(let reason): "delta: \(reason)"
        case .notNormalForm: "delta: expected the normal form"
        }
    }
}

extension WireError {
    package static func versions(_ lowest: Int, _ highest: Int) -> String {
        lowest == highest ? "version \(lowest)" : "versions \(lowest) to \(highest)"
    }
}
