import HandCore
import HandWire

/// An event of a replica, stored so that a client can continue after a restart. Replaying the same events gives the
/// same replica.
public enum JournalEvent: Equatable, Sendable {
    /// An edit by the user, including undo and redo.
    case edit(Delta, isExact: Bool)
    /// The first portion of the buffer was submitted.
    case submitted
    case commit(Commit)
    case rejected(sequence: UInt64, Rejection)
    case caughtUp(lastSequence: UInt64)
    /// The client has this author number from now on, as it changed its name.
    case author(UInt64)

    /// Whether it must be on disk before anything is sent. The server can send the other events again.
    public var isUrgent: Bool {
        switch self {
        case .commit, .author: false
        // The next submission uses the sequence after it.
        case .edit, .submitted, .rejected, .caughtUp: true
        }
    }
}

extension Replica {
    /// Replays a stored event.
    public mutating func replay(_ event: JournalEvent) throws {
        switch event {
        case .edit(let delta, let isExact): try edit(delta, isExact: isExact)
        case .submitted: _ = takeSubmission(list: 0)
        case .commit(let commit): _ = receiveAnything(commit)
        case .rejected(let sequence, let reason): _ = rejected(sequence: sequence, reason)
        case .caughtUp(let lastSequence): caughtUp(lastSequence: lastSequence)
        case .author(let number): author = number
        }
    }
}

extension Replica {
    /// Replays an event as a journal of the fifth or an earlier format meant it: a rejection left its sequence unused,
    /// and the submission in flight got the sequence after the server's last.
    package mutating func replayFormer(_ event: JournalEvent) throws {
        switch event {
        case .rejected(let sequence, let reason):
            let isInFlight = inFlight?.sequence == sequence
            _ = rejected(sequence: sequence, reason)
            if isInFlight { self.sequence = sequence &- 1 }
        case .caughtUp(let lastSequence):
            sequence = lastSequence
            guard let mine = inFlight else { return }
            sequence &+= 1
            inFlight = InFlight(
                sequence: sequence, delta: mine.delta, exactBase: mine.exactBase, count: mine.count, seen: mine.seen)
        case .edit, .submitted, .commit, .author: try replay(event)
        }
    }
}

extension JournalEvent {
    /// Converts an event that sets texts into one that changes them, for a replica in the state before the event.
    package func resolved(on replica: Replica) throws(Delta.Misfit) -> JournalEvent {
        switch self {
        case .edit(let delta, let isExact): .edit(try delta.resolved(on: replica.view), isExact: isExact)
        case .commit(let commit): .commit(try commit.resolved(on: replica.confirmed))
        case .submitted, .rejected, .caughtUp, .author: self
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
            writer.varint(sequence)
            writer.rejection(reason)
        case .caughtUp(let lastSequence):
            writer.byte(6)
            writer.varint(lastSequence)
        case .author(let number):
            writer.byte(7)
            writer.varint(number)
        }
        return writer.bytes
    }

    /// Whether an event whose encoding starts with this byte is an edit of one's own.
    package static func isEdit(_ first: UInt8) -> Bool { first == 1 || first == 2 }

    public init(_ bytes: UnsafeRawBufferPointer) throws(WireError) { try self.init(bytes, setsTexts: false) }

    /// - Parameter setsTexts: whether changes set texts, as in journals up to the fourth format; call `resolved(on:)`
    ///   then.
    package init(_ bytes: UnsafeRawBufferPointer, setsTexts: Bool) throws(WireError) {
        var reader = WireReader(bytes, setsTexts: setsTexts)
        let number = try reader.byte("kind of event")
        switch number {
        case 1, 2: self = .edit(try reader.delta(), isExact: number == 2)
        case 3: self = .submitted
        case 4: self = .commit(try reader.commit())
        case 5:
            self = .rejected(sequence: try reader.varint("sequence"), try reader.rejection())
        case 6: self = .caughtUp(lastSequence: try reader.varint("last sequence"))
        case 7: self = .author(try reader.varint("author"))
        default: throw .unknownValue(field: "kind of event", found: UInt64(number))
        }
        try reader.expectEnd(of: "event")
    }
}
