import HandCore
import HandWire

extension Service {
    func move(_ connection: Connection, to item: ItemID?, in list: UInt64) {
        guard let author = connection.author?.number, let room = connection.cursors.room(of: list) else { return }
        room.presence.move(author, to: item)
        announce(room)
    }

    /// Schedules a list's changed presence for the end of the interval.
    func announce(_ room: Room) {
        guard room.presence.hasChanges else { return }
        if presenceRooms.isEmpty { presenceDue = world.now + limits.presenceInterval }
        presenceRooms.insert(room.list.number)
    }

    /// People in one frame.
    static let presencePage = 512

    /// Sends one frame for each list, with the same bytes for everybody. A client that lags is told later.
    func sendPresence() {
        let due = presenceRooms.sorted()
        presenceRooms = []
        presenceDue = nil
        for room in due.compactMap({ rooms[$0] }) {
            let before = room.presence.takeChanges()
            let (entries, end) = room.presence.entries(
                after: before, through: room.presence.taken, atMost: Self.presencePage)
            let isWhole = end == room.presence.taken
            let frame = isWhole ? FrameRun(DownMessage.presence(list: room.list.number, entries).frame) : nil
            for connection in room.subscribers where connection.hasPresence {
                if connection.owePresence(of: room, since: before, frame) {
                    mark(connection)
                } else {
                    let text = "\(PresenceBoard.mostGone) people left '\(room.list.name)' while nothing was read here"
                    fail(connection, .idleTimeout, text)
                }
            }
        }
    }
}
