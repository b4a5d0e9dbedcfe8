import HandCore
import HandWire

extension ServerMachine {
    /// Returns whether a message may be handled. If not, its sender is told.
    func isAllowed(_ message: UpMessage, from connection: Connection) -> Bool {
        // The usual cases come first: a user who may do everything, and an edit by a user who may make any edit.
        if connection.access.everywhere >= .admin { return true }
        if case .submit(let submission) = message, let hosted = connection.cursors[submission.list]?.hosted,
            connection.access.role(on: hosted.list) >= .write
        {
            return true
        }
        switch message.reach {
        case .nothing: return true
        case .server(let role):
            if connection.access.everywhere >= role { return true }
            note(.denied(connection, what: message.name, list: nil))
            let mine = connection.access.everywhere
            let words = "your role on this server is \(mine); that needs \(role)"
            refuse(connection, message.request ?? 0, .notAllowed, words)
        case .list(let name, let role):
            let mine = connection.access.role(onListNamed: name)
            if mine >= role { return true }
            note(.denied(connection, what: message.name, list: name))
            if mine == .none {
                // A user who guesses names learns nothing.
                refuse(connection, message.request ?? 0, .noSuchList(name))
            } else {
                let words = "your role on '\(name)' is \(mine); that needs \(role)"
                refuse(connection, message.request ?? 0, .notAllowed, words)
            }
        case .followed(let list, let role):
            guard let hosted = connection.cursors[list]?.hosted else { return true }
            if connection.access.role(on: hosted.list) >= role { return true }
            // What was decided under an earlier role is answered again.
            if case .submit(let submission) = message, let author = connection.author,
                submission.sequence <= hosted.authority.lastSequence(of: author)
            {
                return true
            }
            note(.denied(connection, what: message.name, list: hosted.list.name))
            if case .submit(let submission) = message {
                reject(.notAllowed, list: list, submission.sequence, to: connection)
            }
        }
        return false
    }

    /// Tells a client which name and roles its user has.
    func tellGrants(_ connection: Connection) {
        guard connection.author != nil, !connection.isEnding,
            let granted = connection.access.granted(to: connection.person)
        else { return }
        send(.granted(granted), to: connection)
    }

    /// Call this when roles or tokens have changed, and after `Effect.called`. Looks up again the access of all clients
    /// that have said hello, even of those that have not been welcomed yet.
    ///
    /// - Parameter access: returns the access of a client with the token of that id, or without one; nil if the client
    ///   may no longer stay.
    package func accessChanged(at time: Moment, _ access: (String?, any ByteStream) -> Access?) {
        self.time = time
        for connection in Array(connections) where connection.client != nil && !connection.isEnding {
            guard let access = access(connection.access.tokenID, connection.stream) else {
                let isGuest = connection.access.tokenID == nil
                let who = isGuest ? "users without a token may not connect" : "your token is not valid"
                fail(connection, .notAuthenticated, "\(who) any longer")
                continue
            }
            // Under another name, the client is another author.
            if access.isMarked != connection.access.isMarked {
                fail(connection, .shuttingDown, "your name has changed: connect again", retryAfter: 100)
                continue
            }
            let former = exchange(&connection.access, with: access)
            if access != former { tellGrants(connection) }
            for index in connection.cursors.indices.reversed() {
                let cursor = connection.cursors[at: index]
                guard access.role(on: cursor.hosted.list) < .read else { continue }
                unsubscribe(connection, from: cursor.hosted.list.number)
                refuse(
                    connection, cursor.request, .notAllowed, "you may not read '\(cursor.hosted.list.name)' any longer")
            }
        }
    }
}
