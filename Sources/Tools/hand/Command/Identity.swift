import Disk
import EventLoop
import HandClient
import HandCore
import HandFormats
import HandSync
import HandWire

/// This machine's client ids. Each running command uses its own, because to a server, one id is one client.
enum Identity {
    private static let maxCopies = 1_000

    /// The folder for a server. For several hosts, its name contains a digest of all hosts, because their names
    /// together may be too long, and a comma, which occurs in no other folder's name. An address with other hosts
    /// counts as another server: it may not have the same lists.
    static func folder(_ server: HandAddress.Server) -> String {
        let name = server.description
        let safe = name.map { $0.isLetter || $0.isNumber || $0 == "." ? $0 : "_" }
        let count = server.hosts.count
        return Settings.stateFolder + "/clients/"
            + (count > 1 ? "\(count)_hosts,\(Fingerprint.sha256(name))" : String(safe))
    }

    /// Whether a text begins with the path of a journal.
    static func isJournal(_ text: String) -> Bool { text.hasPrefix(Settings.stateFolder + "/clients/") }

    /// Whether a command of this machine has reached a server, as far as this process may look.
    static func knows(_ server: HandAddress.Server) -> Bool { (try? PrivateFile.exists(folder(server))) == true }

    static func path(_ slot: Int, _ server: HandAddress.Server) -> String { path(slot, in: folder(server)) }

    private static func path(_ slot: Int, in folder: String) -> String { "\(folder)/\(slot).sqlite" }

    /// The journals of the ids that were used with a server.
    static func journals(at address: HandAddress) throws -> [String] {
        try used(at: address).map { path($0, address.server) }
    }

    /// The numbers of the ids that were used with a server. Edits may wait under each id.
    static func used(at address: HandAddress) throws -> [Int] {
        // Once: to make its name takes longer than to look at a file.
        let folder = folder(address.server)
        return try (0..<maxCopies).filter { try FileState(at: path($0, in: folder)) != nil }
    }

    /// The lists that this machine has copies of.
    static func keptLists(at address: HandAddress) throws -> [String] {
        try Set(journals(at: address).flatMap { try ClientJournal.lists(inJournalAt: $0) }).sorted()
    }

    /// This machine's copies of a list, the newest first.
    static func kept(_ list: String, at address: HandAddress) throws -> [Replica] {
        let copies = try journals(at: address).compactMap { try ClientJournal.copy(of: list, inJournalAt: $0) }
        return copies.sorted { ($0.revision, $0.hasPending ? 1 : 0) > ($1.revision, $1.hasPending ? 1 : 0) }
    }

    /// What the person sees of a list: its newest copy, with the edits that wait in any copy. The newest copy comes
    /// first.
    static func shown(_ copies: [Replica]) -> Hand {
        copies.first?.view(with: copies.dropFirst()) ?? Hand()
    }

    /// What this machine's journals remember of a person and a history: the author numbers of the machine's ids under
    /// the person's name, the steps of these authors, and what could be undone when the list was last closed.
    static func memory(of person: String, at address: HandAddress, log: UInt64) -> UndoReconstruction.Memory {
        var memory = UndoReconstruction.Memory()
        // If there is no folder with journals, there is no memory.
        for path in (try? journals(at: address)) ?? [] {
            guard let author = ClientJournal.author(of: person, token: address.token, inJournalAt: path) else {
                continue
            }
            memory.own[author] = ClientJournal.steps(of: author, in: log, inJournalAt: path)
            memory.bases += [ClientJournal.history(of: person, in: log, inJournalAt: path)].compactMap(\.self)
        }
        return memory
    }

    /// What a person has seen of the lists of a server, by their names.
    static func seen(by person: String, at address: HandAddress) -> [String: [Seen]] {
        let found = ((try? journals(at: address)) ?? []).map { ClientJournal.seen(by: person, inJournalAt: $0) }
        return found.reduce(into: [:]) { all, some in all.merge(some.mapValues { [$0] }) { $0 + $1 } }
    }

    /// A client with the first free id.
    static func client(at address: HandAddress, person: String, keepsLists: Bool = false) throws -> HandClient {
        try first(at: address.server, for: person) { path in
            try client(path, address, person, keepsLists: keepsLists)
        }
    }

    /// A client of which this machine stores nothing.
    static func guest(at address: HandAddress, person: String) throws -> HandClient {
        try client(nil, address, person)
    }

    private static func client(
        _ path: String?, _ address: HandAddress, _ person: String, keepsLists: Bool = false
    ) throws -> HandClient {
        let configuration = try configuration(address, person, path, keepsLists: keepsLists)
        return try HandClient(configuration, journal: configuration.openJournal())
    }

    /// A client with the given id. If edits wait under the id, the client has their author's name. Returns nil if
    /// another command uses the id; if edits wait, waits up to `timeout` for that command to send them or to end.
    static func client(
        _ slot: Int, at address: HandAddress, person: String, timeout: Duration
    ) async throws -> HandClient? {
        let end = ContinuousClock.now + timeout
        while true {
            let person = ClientJournal.waitingPerson(inJournalAt: path(slot, address.server)) ?? person
            let found = try first(among: slot...slot, at: address.server, for: person) {
                try client($0, address, person)
            }
            if let found { return found }
            guard !waitingLists(slot, at: address).isEmpty, ContinuousClock.now < end else { return nil }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// The lists whose edits wait under an id. A running command may have sent the edits without having recorded that
    /// yet.
    static func waitingLists(_ slot: Int, at address: HandAddress) -> [String] {
        ClientJournal.waitingLists(inJournalAt: path(slot, address.server))
    }

    /// The configuration and the journal for a client on the caller's own loop.
    static func journal(
        at address: HandAddress, person: String
    ) throws -> (ClientConfiguration, ClientJournal) {
        try first(at: address.server, for: person) { path in
            let configuration = try configuration(address, person, path, keepsLists: true)
            return (
                configuration,
                try ClientJournal(path: path, fresh: configuration.client, person: person, token: address.token)
            )
        }
    }

    private static func configuration(
        _ address: HandAddress, _ person: String, _ path: String?, keepsLists: Bool
    ) throws -> ClientConfiguration {
        var configuration = ClientConfiguration(
            server: address.server, person: person, program: "hand/\(HandCommand.version)", journalPath: path,
            keepsLists: keepsLists)
        (configuration.trust, configuration.certificate) = try Settings.certificates(for: address.server)
        (configuration.list, configuration.token) = (address.list, address.token)
        if keepsLists {
            let authors = try journals(at: address).filter { $0 != path }
                .compactMap { ClientJournal.author(of: person, token: address.token, inJournalAt: $0) }
            configuration.persons = Set(authors)
            configuration.memory = { memory(of: person, at: address, log: $0) }
            configuration.seen = {
                seen(by: person, at: address).compactMapValues { $0.max { $0.revision < $1.revision } }
            }
        }
        return configuration
    }

    /// The result of `open` for the first free id without waiting edits of another person.
    private static func first<Result>(
        at server: HandAddress.Server, for person: String, _ open: (String) throws -> Result
    ) throws -> Result {
        guard let found = try first(among: 0...maxCopies - 1, at: server, for: person, open) else {
            throw Failure(.error, "all ids in \(folder(server)) are in use by commands that are running")
        }
        return found
    }

    /// The result of `open` for the first of some ids that is free and has no waiting edits of another person; nil if
    /// there is no such id.
    private static func first<Result>(
        among slots: ClosedRange<Int>, at server: HandAddress.Server, for person: String,
        _ open: (String) throws -> Result
    ) throws -> Result? {
        for slot in slots {
            let path = path(slot, server)
            do {
                if let other = ClientJournal.waitingPerson(inJournalAt: path), other != person,
                    try isWaiting(forOthersThan: person, path)
                {
                    continue
                }
                return try open(path)
            } catch StoreError.inUse { continue }
        }
        return nil
    }

    private static func isWaiting(forOthersThan person: String, _ path: String) throws -> Bool {
        var random = SystemRandomNumberGenerator()
        let journal = try ClientJournal(path: path, fresh: .random(using: &random))
        defer { try? journal.close() }
        return try journal.waitingPerson().map { $0 != person } ?? false
    }
}
