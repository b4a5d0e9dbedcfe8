import HandCore
import HandWire

/// A store through which its servers know about each other, and about who is on their lists. This data does not outlive
/// the servers.
package protocol SharedServers: CommitStore {
    /// Announces that a server is alive, with its report; at least every 5 s, or others consider it gone.
    func heartbeat(of server: UInt64, at address: String, report: [UInt8]) throws
    func leave(_ server: UInt64) throws
    /// Returns the servers that sent a heartbeat within the last minute, ordered by their addresses.
    func servers() throws -> [SharedServer]

    /// Announces who is on lists at one server, and returns who is on them at all servers with a heartbeat within the
    /// last few seconds.
    ///
    /// - Parameters:
    ///   - mine: the changes at this server.
    ///   - lists: the requested lists. What is known of this server itself is returned for all lists.
    ///   - known: the versions that this server knows: a place whose version has not changed is not read again.
    func exchange(
        _ mine: [PresenceNews], at server: UInt64, on lists: [ListNumber], knowing known: [PresencePlace: Int]
    ) throws -> [PresenceNews]
}

package struct SharedServer: Equatable, Sendable {
    package let id: UInt64
    /// Where clients reach the server, for display.
    package let address: String
    /// Milliseconds since the server's last heartbeat.
    package let silence: Int
    /// The server's report in its last heartbeat: a `ServerReport` as JSON.
    package let report: [UInt8]

    package init(id: UInt64, address: String, silence: Int, report: [UInt8]) {
        (self.id, self.address, self.silence, self.report) = (id, address, silence, report)
    }
}

package struct PresencePlace: Hashable, Sendable {
    package let list: ListNumber
    package let server: UInt64

    package init(list: ListNumber, server: UInt64) {
        self.list = list
        self.server = server
    }
}

/// Who is on a list at a server.
package struct PresenceNews: Equatable, Sendable {
    package let place: PresencePlace
    /// Grows with each change during the lifetime of the server.
    package let version: Int
    /// Everybody on the list, as `presence` frames; empty if nobody is. Nil if the requester already knows this
    /// version.
    package let frames: [UInt8]?

    package init(place: PresencePlace, version: Int, frames: [UInt8]?) {
        self.place = place
        self.version = version
        self.frames = frames
    }

    init(place: PresencePlace, version: Int, people: [DownMessage.Presence]) {
        let pages = stride(from: 0, to: people.count, by: ServerMachine.presencePage).map { start in
            let page = Array(people[start..<min(start + ServerMachine.presencePage, people.count)])
            return DownMessage.presence(list: place.list, page).frame
        }
        self.init(place: place, version: version, frames: Array(pages.joined()))
    }

    /// Returns the people on the list, by author.
    ///
    /// - Throws: `WireError`.
    func remotePeople() throws -> [AuthorID: PresenceBoard.RemotePerson] {
        var remotePeople: [AuthorID: PresenceBoard.RemotePerson] = [:]
        let frames = frames ?? []
        var reader = FrameReader(limit: frames.count)
        try frames.withUnsafeBytes { bytes in
            _ = try reader.read(bytes) { (body) throws(WireError) -> Bool in
                guard case .presence(_, let people) = try DownMessage(body) else { return true }
                for person in people {
                    guard case .here(let name, let focus) = person.place else { continue }
                    remotePeople[person.author] = PresenceBoard.RemotePerson(name: name, focus: focus)
                }
                return true
            }
        }
        return remotePeople
    }
}
