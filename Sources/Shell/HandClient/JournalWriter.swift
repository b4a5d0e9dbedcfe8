import HandStore
import HandSync
import HandWire

/// Keeps what a machine wants kept in a journal on disk, once in a turn of the loop.
final class JournalWriter {
    let journal: ClientJournal
    private var buffer = JournalBuffer()
    /// Lists of which the buffer knows how much is kept.
    private var known: Set<String> = []
    /// Whether the journal knows that another program has this client's id.
    private var isShared = false

    init(_ journal: ClientJournal) {
        self.journal = journal
    }

    /// The replica of a list as it was kept, with all that was collected of it.
    func load(_ list: String, _ machine: ClientMachine) throws -> Replica? {
        try writeEverything(machine)
        return try journal.load(list)
    }

    func add(_ event: JournalEvent, to list: String) {
        buffer.add(event, to: list)
    }

    /// The replica was set anew; what was collected of it so far is in it.
    func replace(_ list: String) {
        buffer.replace(list)
    }

    func move(_ list: String, to name: String) {
        buffer.move(list, to: name)
    }

    /// Writes what must be written before anything is sent. Returns what went wrong; what could not be written is kept here.
    func flush(_ machine: ClientMachine) -> String? {
        guard buffer.isUrgent else { return nil }
        return attempt(machine)
    }

    func writeEverything(_ machine: ClientMachine) throws {
        for list in machine.subscriptions.keys where !known.contains(list) {
            buffer.found(try journal.eventCount(of: list), of: list)
            known.insert(list)
        }
        try buffer.write { write in
            switch write {
            case .append(let events, let list): try journal.append(events, to: list)
            case .checkpoint(let list, let formerName):
                guard let replica = machine.subscriptions[list]?.replica else { return }
                try journal.checkpoint(replica, of: list, formerName: formerName)
            }
        }
    }

    static func problem(_ error: any Error) -> String { "what was edited cannot be kept on disk: \(error)" }

    /// Another program has this client's id: that is kept, and another id taken where that can be. Returns it.
    func noteShared(_ machine: ClientMachine) throws -> ClientID? {
        if !isShared { try journal.noteSharedClient() }
        isShared = true
        guard machine.wantsNewID else { return nil }
        try writeEverything(machine)
        var random = SystemRandomNumberGenerator()
        let fresh = ClientID.random(using: &random)
        guard try journal.take(fresh) else { return nil }
        isShared = false
        return fresh
    }

    private func attempt(_ machine: ClientMachine) -> String? {
        do {
            try writeEverything(machine)
            return nil
        } catch {
            return Self.problem(error)
        }
    }

    /// Writes the rest and closes; returns what went wrong, if that cannot be had from the server again.
    func close(_ machine: ClientMachine) -> String? {
        defer { try? journal.close() }
        let isUrgent = buffer.isUrgent
        let problem = attempt(machine)
        return isUrgent ? problem : nil
    }
}
