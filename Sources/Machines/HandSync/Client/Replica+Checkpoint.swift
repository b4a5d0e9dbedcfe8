import HandCore
import HandWire

extension Replica {
    /// A replica without its undo history, as it is kept on disk; the confirmed items stand beside it.
    public struct Checkpoint: Equatable, Sendable {
        public var revision: Int
        public var logID: UInt64
        public var sequence: UInt64
        public var author: UInt64
        public var rules: Rules
        public var inFlight: InFlight?
        /// The portions of the buffer.
        public var buffer: [Edits]

        public struct Edits: Equatable, Sendable {
            public var delta: Delta
            public var isExact: Bool
        }
    }

    public var checkpoint: Checkpoint {
        Checkpoint(
            revision: revision, logID: logID, sequence: sequence, author: author ?? 0, rules: confirmed.rules,
            inFlight: inFlight,
            buffer: buffer.map { Checkpoint.Edits(delta: $0.delta, isExact: $0.isExact) })
    }

    /// Goes on from what was kept.
    ///
    /// - Throws: `Delta.Misfit` if the pending edits do not fit the items.
    public init(_ checkpoint: Checkpoint, confirmed: Hand) throws(Delta.Misfit) {
        self.init(
            confirmed: confirmed, revision: checkpoint.revision, logID: checkpoint.logID, sequence: checkpoint.sequence)
        author = checkpoint.author
        inFlight = checkpoint.inFlight
        buffer = checkpoint.buffer.map {
            Portion($0.delta, isExact: $0.isExact, size: $0.delta.wireSize)
        }
        for delta in pending { view = try view.applying(delta) }
    }
}

// MARK: - Bytes

extension Replica.Checkpoint {
    public var bytes: [UInt8] {
        var writer = WireWriter()
        writer.varint(revision)
        writer.word(logID)
        writer.varint(sequence)
        writer.varint(author)
        writer.rules(rules)
        writer.byte(inFlight == nil ? 0 : 1)
        if let inFlight {
            writer.varint(inFlight.sequence)
            writer.byte(inFlight.isExact ? 1 : 0)
            writer.delta(inFlight.delta)
        }
        writer.varint(buffer.count)
        for edits in buffer {
            writer.byte(edits.isExact ? 1 : 0)
            writer.delta(edits.delta)
        }
        return writer.bytes
    }

    public init(_ bytes: UnsafeRawBufferPointer) throws(WireError) {
        var reader = WireReader(bytes)
        revision = try reader.revision("revision")
        logID = try reader.word("log id")
        sequence = try reader.varint("sequence")
        author = try reader.varint("author")
        rules = try reader.rules()
        if try reader.flag("in flight") {
            let sequence = try reader.varint("sequence")
            let isExact = try reader.flag("exact")
            inFlight = Replica.InFlight(sequence: sequence, delta: try reader.delta(), isExact: isExact)
        }
        buffer = []
        for _ in 0..<(try reader.count("portions", limit: reader.remaining)) {
            let isExact = try reader.flag("exact")
            buffer.append(Edits(delta: try reader.delta(), isExact: isExact))
        }
        try reader.expectEnd(of: "checkpoint")
    }
}
