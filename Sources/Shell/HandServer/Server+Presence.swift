import EventLoop
import HandCore
import HandSync
import HandWire

extension Server {
    func move(_ connection: Connection, to item: ItemID?, in list: UInt64) {
        guard let author = connection.author, let room = connection.cursors[list]?.room else { return }
        room.presence.move(author, to: item)
        announce(room)
    }

    /// Has a list's changed presence sent at the end of the interval.
    func announce(_ room: Room) {
        guard room.presence.hasChanges, !presenceTimer.isClosing else { return }
        if presenceRooms.isEmpty {
            presenceTimer.start(after: limits.presenceInterval) { [unowned self] in sendPresence() }
        }
        presenceRooms.insert(room.list.number)
    }

    /// One frame a list, the same bytes for everybody. Who does not keep up is told when he does.
    func sendPresence() {
        let due = presenceRooms
        presenceRooms = []
        for room in due.compactMap({ rooms[$0] }) {
            let changes = room.presence.takeChanges()
            guard !changes.isEmpty else { continue }
            let entries = room.presence.entries(of: changes)
            let frame = OutputBuffer(DownMessage.presence(list: room.list.number, entries).frame)
            for connection in room.subscribers.values where connection.hasPresence {
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
