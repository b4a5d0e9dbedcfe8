import HandCore

/// A number that a client gives to a request, so that it knows the answer; 0 is no request.
public struct RequestNumber: TypedNumber {
    public let rawValue: UInt64

    @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }
}
