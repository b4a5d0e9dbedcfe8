import HandCore

/// The number by which a server and its store know a list, and which names the list on a connection; 0 is no list.
public struct ListNumber: TypedNumber {
    public let rawValue: UInt64

    @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }
}
