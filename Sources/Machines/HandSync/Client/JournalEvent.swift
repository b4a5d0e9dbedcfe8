import HandCore
import HandWire

/// An event of a replica, kept so that a client can go on after a restart. A replica
/// that does the same things again is the same replica.
public enum JournalEvent: Equatable, Sendable {
    /// An edit of the user's, an undo or a redo included.
    case edit(Delta, isExact: Bool)
    /// The first portion of the buffer went into flight.
    case submitted
    case commit(Commit)
    case rejected(sequence: UInt64, Rejection)
    case caughtUp(lastSequence: UInt64)
    /// The client goes on under this number: it has another name.
    case author(UInt64)

    /// Whether it must be on disk before anything is sent. Others can be had from the server again.
    public var isUrgent: Bool {
        switch self {
        case .commit, .author: false
        // What goes out next goes out under the sequence that follows.
        case .edit, .submitted, .rejected, .caughtUp: true
        }
    }
}

extension Replica {
    /// Repeats what a kept event recorded.
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
    /// Repeats an event as a journal of the fifth format or an earlier one meant it: a rejection left its sequence free, and what was
    /// in flight took the sequence after the server's last.
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
    /// What an event that sets texts is for a replica that has come so far.
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

    /// Whether an event whose bytes start with that one is an edit of one's own.
    public static func isEdit(_ first: UInt8) -> Bool { first == 1 || first == 2 }

    /// - Parameter setsTexts: as journals did up to the fourth format; `resolved(on:)` has to follow.
    public init(_ bytes: UnsafeRawBufferPointer, setsTexts: Bool = false) throws(WireError) {
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
