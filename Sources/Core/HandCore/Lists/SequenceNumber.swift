/// A client's own count of its submissions to one list, from 1; 0 is before the first.
public struct SequenceNumber: TypedNumber {
    public let rawValue: UInt64

    @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }
}
