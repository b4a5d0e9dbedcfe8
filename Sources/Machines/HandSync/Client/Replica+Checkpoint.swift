import HandCore
import HandWire

extension Replica {
    /// A replica as stored on disk; the confirmed items are stored separately.
    public struct Checkpoint: Equatable, Sendable {
        package internal(set) var revision: Int
        package internal(set) var logID: UInt64
        package internal(set) var sequence: SequenceNumber
        package internal(set) var author: AuthorID
        package internal(set) var persons: Set<AuthorID>
        public internal(set) var rules: Rules
        package internal(set) var inFlight: InFlight?
        /// Whether the replica is known to differ from the server's list: then only a snapshot helps.
        package internal(set) var hasDiverged: Bool
        package internal(set) var buffer: [Portion]
        package internal(set) var history: UndoHistory
    }

    public var checkpoint: Checkpoint {
        Checkpoint(
            revision: revision, logID: logID, sequence: sequence, author: author ?? 0, persons: persons,
            rules: confirmed.rules, inFlight: inFlight, hasDiverged: hasDiverged, buffer: buffer, history: history)
    }

    /// Restores a replica from a checkpoint.
    ///
    /// - Throws: `Delta.Misfit` if the pending edits do not fit the items.
    public init(_ checkpoint: Checkpoint, confirmed: Hand) throws(Delta.Misfit) {
        self.init(
            confirmed: confirmed, revision: checkpoint.revision, logID: checkpoint.logID, sequence: checkpoint.sequence)
        identify(as: checkpoint.author, persons: checkpoint.persons)
        inFlight = checkpoint.inFlight
        hasDiverged = checkpoint.hasDiverged
        history = checkpoint.history
        buffer = checkpoint.buffer
        for delta in pending { view = try view.applying(delta) }
    }
}

// MARK: - Bytes

extension Replica.Checkpoint {
    private struct Marks: OptionSet {
        let rawValue: UInt8

        static let inFlight = Marks(rawValue: 1)
        static let diverged = Marks(rawValue: 2)
        static let passedSnapshot = Marks(rawValue: 4)
        static let all: Marks = [.inFlight, .diverged, .passedSnapshot]
    }

    public var bytes: [UInt8] {
        var writer = WireWriter()
        writer.varint(revision)
        writer.word(logID)
        writer.number(sequence)
        writer.number(author)
        writer.authors(persons)
        writer.rules(rules)
        var marks: Marks = []
        if inFlight != nil { marks.insert(.inFlight) }
        if hasDiverged { marks.insert(.diverged) }
        if inFlight?.hasPassedSnapshot == true { marks.insert(.passedSnapshot) }
        writer.byte(marks.rawValue)
        if let inFlight {
            writer.number(inFlight.sequence)
            writer.exactBase(inFlight.exactBase)
            writer.varint(inFlight.count)
            writer.varint(inFlight.seen)
            writer.step(inFlight.step)
            writer.delta(inFlight.delta)
        }
        writer.varint(buffer.count)
        for edits in buffer {
            writer.exactBase(edits.exactBase)
            writer.varint(edits.size - edits.recent.reduce(0) { $0 + $1.size })
            writer.varint(edits.count - edits.recent.count)
            writer.varint(edits.seen)
            writer.step(edits.step)
            writer.delta(edits.joined.delta)
            writer.varint(edits.recent.count)
            for edit in edits.recent {
                writer.delta(edit.delta)
                writer.delta(edit.inverse)
            }
        }
        history.write(to: &writer)
        return writer.bytes
    }

    public init(_ bytes: UnsafeRawBufferPointer) throws(WireError) {
        var reader = WireReader(bytes)
        revision = try reader.revision("revision")
        logID = try reader.word("log id")
        sequence = try reader.number("sequence")
        author = try reader.number("author")
        persons = try reader.authors()
        rules = try reader.rules()
        let marks = Marks(rawValue: try reader.byte("marks"))
        guard marks.isSubset(of: .all) else { throw .unknownValue(field: "marks", found: UInt64(marks.rawValue)) }
        hasDiverged = marks.contains(.diverged)
        if marks.contains(.inFlight) {
            let sequence: SequenceNumber = try reader.number("sequence")
            inFlight = Replica.InFlight(try reader.portion(isWaiting: false), sequence: sequence)
            inFlight?.hasPassedSnapshot = marks.contains(.passedSnapshot)
        }
        buffer = []
        for _ in 0..<(try reader.count("portions", limit: reader.remaining)) {
            buffer.append(try reader.portion(isWaiting: true))
        }
        history = try UndoHistory(&reader)
        try reader.expectEnd(of: "checkpoint")
    }
}

extension WireWriter {
    /// Writes 0 for none, otherwise the revision plus one.
    fileprivate mutating func exactBase(_ base: Int?) {
        varint(base.map { $0 + 1 } ?? 0)
    }

    /// Writes 0 for an edit that is no step.
    fileprivate mutating func step(_ step: UndoStep?) {
        byte(step.map { $0.rawValue + 1 } ?? 0)
    }
}

extension WireReader {
    /// - Parameter isWaiting: false for a portion in flight, which no longer changes.
    fileprivate mutating func portion(isWaiting: Bool) throws(WireError) -> Replica.Portion {
        let exactBase = try exactBase()
        let size = isWaiting ? try count("size") : 0
        let edits = try count("edits")
        let seen = try revision("seen revision")
        let step = try step()
        var portion = Replica.Portion(
            try delta(), exactBase: exactBase, step: step, size: size, count: edits, seen: seen)
        let recent = isWaiting ? try count("recent edits", limit: remaining) : 0
        for _ in 0..<recent {
            let delta = try delta()
            portion.append(Replica.Portion.Edit(delta: delta, inverse: try self.delta(), size: delta.wireSize))
        }
        return portion
    }

    private mutating func exactBase() throws(WireError) -> Int? {
        let number = try revision("exact base")
        return number == 0 ? nil : number - 1
    }

    private mutating func step() throws(WireError) -> UndoStep? {
        let number = try byte("step")
        guard number <= 2 else { throw .unknownValue(field: "step", found: UInt64(number)) }
        return number == 0 ? nil : UndoStep(rawValue: number - 1)
    }
}
