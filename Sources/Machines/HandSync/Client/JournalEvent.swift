import HandCore
import HandWire

/// An event of a replica, stored so that a client can continue after a restart. Replaying the same events gives the
/// same replica.
public enum JournalEvent: Equatable, Sendable {
    /// An edit by the user.
    case edit(Delta, isExact: Bool)
    /// An undo or a redo by the user.
    case step(UndoStep, Delta)
    /// The first portion of the buffer was submitted.
    case submitted
    case commit(Commit)
    case rejected(sequence: SequenceNumber, Rejection)
    case caughtUp(lastSequence: SequenceNumber)
    /// The client and its person have these author numbers from now on.
    case authors(own: AuthorID?, persons: Set<AuthorID>)

    /// Whether the event must be on disk before anything is sent. The server can send the other events again.
    public var isUrgent: Bool {
        switch self {
        case .commit, .authors: false
        // The sequence of the next submission depends on `submitted`, `rejected` and `caughtUp`.
        case .edit, .step, .submitted, .rejected, .caughtUp: true
        }
    }
}

extension Replica {
    /// Replays a stored event.
    public mutating func replay(_ event: JournalEvent) throws {
        switch event {
        case .edit(let delta, let isExact): try edit(delta, isExact: isExact)
        case .step(let step, let delta): try take(step, delta)
        case .submitted: _ = takeSubmission(list: 0)
        case .commit(let commit): _ = receiveAnything(commit)
        case .rejected(let sequence, let reason): _ = rejected(sequence: sequence, reason)
        case .caughtUp(let lastSequence): caughtUp(lastSequence: lastSequence)
        case .authors(let own, let persons): identify(as: own, persons: persons)
        }
    }
}

// MARK: - Bytes

extension JournalEvent {
    public var bytes: [UInt8] {
        var writer = WireWriter()
        switch self {
        case .edit(let delta, let isExact):
            writer.byte(isExact ? 2 : 1)
            writer.delta(delta)
        case .submitted: writer.byte(3)
        case .commit(let commit):
            writer.byte(4)
            writer.commit(commit)
        case .rejected(let sequence, let reason):
            writer.byte(5)
            writer.number(sequence)
            writer.rejection(reason)
        case .caughtUp(let lastSequence):
            writer.byte(6)
            writer.number(lastSequence)
        case .authors(let own, let persons):
            writer.byte(7)
            writer.number(own ?? 0)
            writer.authors(persons)
        case .step(let step, let delta):
            writer.byte(step == .undo ? 8 : 9)
            writer.delta(delta)
        }
        return writer.bytes
    }

    /// Whether an event whose encoding starts with this byte is an edit by the user.
    package static func isEdit(_ first: UInt8) -> Bool { [1, 2, 8, 9].contains(first) }

    public init(_ bytes: UnsafeRawBufferPointer) throws(WireError) {
        var reader = WireReader(bytes)
        let number = try reader.byte("kind of event")
        switch number {
        case 1, 2: self = .edit(try reader.delta(), isExact: number == 2)
        case 3: self = .submitted
        case 4: self = .commit(try reader.commit())
        case 5:
            self = .rejected(sequence: try reader.number("sequence"), try reader.rejection())
        case 6: self = .caughtUp(lastSequence: try reader.number("last sequence"))
        case 7:
            let own: AuthorID = try reader.number("author")
            self = .authors(own: own == 0 ? nil : own, persons: try reader.authors())
        case 8, 9: self = .step(number == 8 ? .undo : .redo, try reader.delta())
        default: throw .unknownValue(field: "kind of event", found: UInt64(number))
        }
        try reader.expectEnd(of: "event")
    }
}

extension WireWriter {
    mutating func authors(_ authors: Set<AuthorID>) {
        varint(authors.count)
        for author in authors.sorted() { number(author) }
    }
}

extension WireReader {
    mutating func authors() throws(WireError) -> Set<AuthorID> {
        var authors: Set<AuthorID> = []
        for _ in 0..<(try count("authors", limit: remaining)) { authors.insert(try number("author")) }
        return authors
    }
}
