import HandWire

extension Service {
    /// What contradicts itself here; nil if nothing does. For tests: O(everything).
    package func brokenInvariant() -> String? {
        for (client, connection) in clients where !connections.contains(connection) {
            return "client \(client) is known by a connection that is gone"
        }
        for room in rooms.values {
            if let problem = room.authority.brokenInvariant() { return "\(room.list.name): \(problem)" }
            if let problem = problem(with: room) { return "\(room.list.name): \(problem)" }
        }
        for connection in connections {
            for list in connection.cursors.lists where rooms[list]?.subscribers.contains(connection) != true {
                return "a connection follows list \(list) unknown to it"
            }
        }
        return nil
    }

    private func problem(with room: Room) -> String? {
        var authors: Set<UInt64> = []
        for connection in room.subscribers {
            guard let cursor = connection.cursors[room.list.number] else { return "a subscriber has no cursor" }
            if cursor.revision > room.authority.revision { return "a cursor is ahead of what is durable" }
            guard let author = connection.author else { return "a subscriber has no author" }
            if !authors.insert(author).inserted { return "author \(author) follows it twice" }
        }
        let present = room.subscribers.filter(\.hasPresence).compactMap(\.author)
        return room.presence.everybody == Set(present) ? nil : "presence is not that of the subscribers"
    }
}
