import HandCore

/// An edit that a client asks to have committed.
public struct Submission: Equatable, Sendable {
    public var list: ListNumber
    /// The revision that the delta was made on.
    public var base: Int
    public var sequence: SequenceNumber
    /// Whether the server must reject the edit if the list is no longer at `base`.
    public var isExact: Bool
    /// How many revisions before `base` the author made the edit, if it was transformed to `base` since; 0 for an exact
    /// edit.
    public var lag: Int
    public var delta: Delta

    public init(
        list: ListNumber, base: Int, sequence: SequenceNumber, isExact: Bool = false, lag: Int = 0, delta: Delta
    ) {
        self.list = list
        self.base = base
        self.sequence = sequence
        self.isExact = isExact
        self.lag = isExact ? 0 : lag
        self.delta = delta
    }
}

extension Submission {
    /// `isExact` and `lag` as one number: 0 if made on its base, 1 if exact, n + 1 if made n revisions before its base.
    var making: Int { isExact ? 1 : lag == 0 ? 0 : lag + 1 }

    init(_ reader: inout WireReader) throws(WireError) {
        list = try reader.number("list")
        base = try reader.revision("base")
        sequence = try reader.number("sequence")
        let making = try reader.revision("how it was made")
        isExact = making == 1
        lag = making < 2 ? 0 : making - 1
        guard lag <= base else { throw .unknownValue(field: "how it was made", found: UInt64(making)) }
        delta = try reader.delta()
    }
}
