import HandCore
import HandWire

extension Service {
    func move(_ connection: Connection, to item: ItemID?, in list: UInt64) {
        guard let author = connection.author?.number, let room = connection.cursors[list]?.room else { return }
        room.presence.move(author, to: item)
        announce(room)
    }

    /// Has a list's changed presence sent at the end of the interval.
    func announce(_ room: Room) {
        guard room.presence.hasChanges else { return }
        if presenceRooms.isEmpty { presenceDue = world.now + limits.presenceInterval }
        presenceRooms.insert(room.list.number)
    }

    /// One frame a list, the same bytes for everybody. Who does not keep up is told when he does.
    func sendPresence() {
        let due = presenceRooms.sorted()
        presenceRooms = []
        presenceDue = nil
        for room in due.compactMap({ rooms[$0] }) {
            let changes = room.presence.takeChanges()
            guard !changes.isEmpty else { continue }
            let entries = room.presence.entries(of: changes)
            let frame = FrameRun(DownMessage.presence(list: room.list.number, entries).frame)
            for connection in room.subscribers where connection.hasPresence {
                if connection.isWriting {
                    connection.cursors[room.list.number]?.owedPresence.formUnion(changes)
                } else {
                    connection.enqueue(frame)
                    mark(connection)
                }
            }
        }
    }
}
