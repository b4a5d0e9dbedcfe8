import HandCore
import HandWire

extension Replica {
    /// A replica without its undo history, as stored on disk; the confirmed items are stored separately.
    public struct Checkpoint: Equatable, Sendable {
        package internal(set) var revision: Int
        package internal(set) var logID: UInt64
        package internal(set) var sequence: UInt64
        package internal(set) var author: UInt64
        public internal(set) var rules: Rules
        package internal(set) var inFlight: InFlight?
        /// Whether it is known to differ from the server's list: only a snapshot helps.
        package internal(set) var hasDiverged: Bool
        /// The portions of the buffer.
        package internal(set) var buffer: [Edits]

        package struct Edits: Equatable, Sendable {
            package internal(set) var delta: Delta
            package internal(set) var exactBase: Int?
            /// The total size of its edits before they were joined; it determines where the next portion starts.
            package internal(set) var size: Int
            /// The revision that the author had seen.
            package internal(set) var seen: Int
        }
    }

    public var checkpoint: Checkpoint {
        Checkpoint(
            revision: revision, logID: logID, sequence: sequence, author: author ?? 0, rules: confirmed.rules,
            inFlight: inFlight, hasDiverged: hasDiverged,
            buffer: buffer.map {
                Checkpoint.Edits(delta: $0.delta, exactBase: $0.exactBase, size: $0.size, seen: $0.seen)
            })
    }

    /// Restores a replica from a checkpoint.
    ///
    /// - Throws: `Delta.Misfit` if the pending edits do not fit the items.
    public init(_ checkpoint: Checkpoint, confirmed: Hand) throws(Delta.Misfit) {
        self.init(
            confirmed: confirmed, revision: checkpoint.revision, logID: checkpoint.logID, sequence: checkpoint.sequence)
        author = checkpoint.author
        inFlight = checkpoint.inFlight
        hasDiverged = checkpoint.hasDiverged
        buffer = checkpoint.buffer.map {
            Portion($0.delta, exactBase: $0.exactBase, size: $0.size, seen: $0.seen)
        }
        for delta in pending { view = try view.applying(delta) }
    }
}

// MARK: - Bytes

extension Replica.Checkpoint {
    private struct Marks: OptionSet {
        let rawValue: UInt8

        static let inFlight = Marks(rawValue: 1)
        static let diverged = Marks(rawValue: 2)
        /// Edits contain the revision that their author had seen; those in journals of the first format do not.
        static let seen = Marks(rawValue: 4)
        static let passedSnapshot = Marks(rawValue: 8)
        static let all: Marks = [.inFlight, .diverged, .seen, .passedSnapshot]
    }

    public var bytes: [UInt8] {
        var writer = WireWriter()
        writer.varint(revision)
        writer.word(logID)
        writer.varint(sequence)
        writer.varint(author)
        writer.rules(rules)
        var marks: Marks = [.seen]
        if inFlight != nil { marks.insert(.inFlight) }
        if hasDiverged { marks.insert(.diverged) }
        if inFlight?.hasPassedSnapshot == true { marks.insert(.passedSnapshot) }
        writer.byte(marks.rawValue)
        if let inFlight {
            writer.varint(inFlight.sequence)
            writer.exactBase(inFlight.exactBase)
            writer.varint(inFlight.seen)
            writer.delta(inFlight.delta)
        }
        writer.varint(buffer.count)
        for edits in buffer {
            writer.exactBase(edits.exactBase)
            writer.varint(edits.size)
            writer.varint(edits.seen)
            writer.delta(edits.delta)
        }
        return writer.bytes
    }

    public init(_ bytes: UnsafeRawBufferPointer) throws(WireError) { try self.init(bytes, setsTexts: false) }

    /// - Parameter setsTexts: whether changes set texts, as in journals up to the fourth format; call `resolve(on:)`
    ///   then.
    package init(_ bytes: UnsafeRawBufferPointer, setsTexts: Bool) throws(WireError) {
        var reader = WireReader(bytes, setsTexts: setsTexts)
        revision = try reader.revision("revision")
        logID = try reader.word("log id")
        sequence = try reader.varint("sequence")
        author = try reader.varint("author")
        rules = try reader.rules()
        let marks = Marks(rawValue: try reader.byte("marks"))
        guard marks.isSubset(of: .all) else { throw .unknownValue(field: "marks", found: UInt64(marks.rawValue)) }
        hasDiverged = marks.contains(.diverged)
        if marks.contains(.inFlight) {
            let sequence = try reader.varint("sequence")
            let exactBase = try reader.exactBase()
            let seen = marks.contains(.seen) ? try reader.revision("seen revision") : revision
            inFlight = Replica.InFlight(
                sequence: sequence, delta: try reader.delta(), exactBase: exactBase, seen: seen)
            inFlight?.hasPassedSnapshot = marks.contains(.passedSnapshot)
        }
        buffer = []
        for _ in 0..<(try reader.count("portions", limit: reader.remaining)) {
            let exactBase = try reader.exactBase()
            let size = try reader.count("size")
            let seen = marks.contains(.seen) ? try reader.revision("seen revision") : revision
            buffer.append(Edits(delta: try reader.delta(), exactBase: exactBase, size: size, seen: seen))
        }
        try reader.expectEnd(of: "checkpoint")
    }
}

extension Replica.Checkpoint {
    /// Converts edits that set texts into edits that change them.
    ///
    /// - Parameter confirmed: the items that were stored with it.
    package mutating func resolve(on confirmed: Hand) throws(Delta.Misfit) {
        var list = confirmed
        if let former = inFlight {
            let delta = try former.delta.resolved(on: list)
            inFlight = Replica.InFlight(
                sequence: former.sequence, delta: delta, exactBase: former.exactBase, count: former.count,
                seen: former.seen)
            list = try list.applying(delta)
        }
        for index in buffer.indices {
            buffer[index].delta = try buffer[index].delta.resolved(on: list)
            list = try list.applying(buffer[index].delta)
        }
    }
}

extension WireWriter {
    /// Writes 0 for none, otherwise the revision plus one.
    fileprivate mutating func exactBase(_ base: Int?) {
        varint(base.map { $0 + 1 } ?? 0)
    }
}

extension WireReader {
    fileprivate mutating func exactBase() throws(WireError) -> Int? {
        let number = try revision("exact base")
        return number == 0 ? nil : number - 1
    }
}
