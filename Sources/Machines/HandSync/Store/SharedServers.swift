import HandWire

/// A store through which its servers know of each other, and of who is where on its lists. Nothing of it outlives the servers.
package protocol SharedServers: CommitStore {
    /// Says that a server is there, and what it reports of itself; at least once in 5 s, or it is taken to be gone.
    func heartbeat(of server: UInt64, at address: String, report: [UInt8]) throws
    /// Says that a server is gone.
    func leave(_ server: UInt64) throws
    /// The servers that were heard of within the last minute, by their addresses.
    func servers() throws -> [SharedServer]

    /// Says who is on lists at one server, and finds who is there at all servers that have been heard of within the last seconds.
    ///
    /// - Parameters:
    ///   - mine: what has changed at the server.
    ///   - lists: which lists are asked about. What is known of the server itself is told of all.
    ///   - known: versions that the server knows: what has not changed is not read again.
    func exchange(
        _ mine: [PresenceNews], at server: UInt64, on lists: [UInt64], knowing known: [PresencePlace: Int]
    ) throws -> [PresenceNews]
}

/// A server of several.
package struct SharedServer: Equatable, Sendable {
    package let id: UInt64
    /// Where its clients reach it, for people.
    package let address: String
    /// Milliseconds since it was heard of.
    package let silence: Int
    /// What it said of itself then: a `ServerReport` as JSON.
    package let report: [UInt8]

    package init(id: UInt64, address: String, silence: Int, report: [UInt8]) {
        (self.id, self.address, self.silence, self.report) = (id, address, silence, report)
    }
}

/// A list at a server.
package struct PresencePlace: Hashable, Sendable {
    package let list: UInt64
    package let server: UInt64

    package init(list: UInt64, server: UInt64) {
        self.list = list
        self.server = server
    }
}

/// Who is on a list at a server.
package struct PresenceNews: Equatable, Sendable {
    package let place: PresencePlace
    /// Grows with each change, as long as the server lives.
    package let version: Int
    /// All who are there, as `presence` frames; none if nobody is. Nil for what is known.
    package let frames: [UInt8]?

    package init(place: PresencePlace, version: Int, frames: [UInt8]?) {
        self.place = place
        self.version = version
        self.frames = frames
    }

    init(place: PresencePlace, version: Int, people: [DownMessage.Presence]) {
        let pages = stride(from: 0, to: people.count, by: Service.presencePage).map { start in
            let page = Array(people[start..<min(start + Service.presencePage, people.count)])
            return DownMessage.presence(list: place.list, page).frame
        }
        self.init(place: place, version: version, frames: Array(pages.joined()))
    }

    /// Those who are there, by author.
    ///
    /// - Throws: `WireError`.
    func visitors() throws -> [UInt64: PresenceBoard.Visitor] {
        var visitors: [UInt64: PresenceBoard.Visitor] = [:]
        let frames = frames ?? []
        var reader = FrameReader(limit: frames.count)
        try frames.withUnsafeBytes { bytes in
            _ = try reader.read(bytes) { (body) throws(WireError) -> Bool in
                guard case .presence(_, let people) = try DownMessage(body) else { return true }
                for person in people {
                    guard case .here(let name, let focus) = person.place else { continue }
                    visitors[person.author] = PresenceBoard.Visitor(name: name, focus: focus)
                }
                return true
            }
        }
        return visitors
    }
}
