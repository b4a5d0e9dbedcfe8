import HandCore
import HandWire

/// Who may connect, who is connected, and which authors the store does not know yet.
struct Admission {
    var limiter: ConnectionLimiter
    /// The connection of each client that has said hello.
    private var connections: [StoreHint.Key: Connection] = [:]
    var newcomers = Newcomers()

    init(_ limits: Limits) { limiter = ConnectionLimiter(limits) }

    // MARK: Clients

    /// The connection of a client.
    subscript(key: StoreHint.Key) -> Connection? { connections[key] }

    /// Makes a connection that of its client. Returns the client's former connection, if it has not gone yet.
    mutating func replace(_ client: ClientID, by connection: Connection) -> Connection? {
        connections.updateValue(connection, forKey: StoreHint.Key(client))
    }

    /// A connection is gone.
    mutating func drop(_ connection: Connection) {
        limiter.leave(connection)
        if let key = connection.client.map(StoreHint.Key.init), connections[key] === connection {
            connections[key] = nil
        }
    }

    // MARK: Authors

    /// What is known about the author that a client is under a name.
    enum KnownAuthor {
        case author(Author, isNewcomer: Bool)
        /// The store is to be asked. The client's number is known if the client has come under another name.
        case unknown(client: AuthorID?)
    }

    /// Finds the author that the client of a connection is. Newcomers are looked up now, not when the store has
    /// answered: a newcomer's commit may become durable in the meantime, after the store has looked.
    ///
    /// - Parameter former: the client's former connection, if it has not gone yet. Its author need not be in the store.
    func author(_ client: ClientID, named person: String, after former: Connection?) -> KnownAuthor {
        let former = former?.client == client ? former : nil
        let remembered = newcomers.find(client, named: person)
        if let author = remembered.author { return .author(author, isNewcomer: true) }
        if let former, let author = former.author, former.person == person {
            return .author(author, isNewcomer: former.isNewcomer)
        }
        return .unknown(client: remembered.client ?? former?.author?.client)
    }

    /// An author is in the store now.
    mutating func stored(_ author: AuthorID) {
        guard let newcomer = newcomers.forget(author) else { return }
        connections[StoreHint.Key(newcomer.client)]?.authorStored(newcomer.author)
    }

    // MARK: Invariants

    /// Returns which invariant is broken; nil if none is.
    ///
    /// - Parameter pending: the number of commits of each author that are to be written.
    func brokenInvariant(_ all: ConnectionSet, pending: [AuthorID: Int]) -> String? {
        for (client, connection) in connections where !all.contains(connection) {
            return "client \(client) is known by a connection that is gone"
        }
        for connection in all where !connection.isEnding {
            guard let author = connection.author?.number, pending[author] != nil else { continue }
            if connection.isNewcomer != newcomers.contains(author) {
                return "author \(author), who has commits to be written, is a newcomer in one place only"
            }
        }
        return newcomers.problem(pending: pending)
    }
}
