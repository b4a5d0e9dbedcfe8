import HandCore
import HandWire

extension ServerMachine {
    func move(_ connection: Connection, to focus: Focus?, in list: ListNumber) {
        guard let author = connection.author?.number, let hosted = connection.cursors.hostedList(of: list) else {
            return
        }
        hosted.movePerson(author, to: focus)
        announce(hosted, for: connection)
    }

    /// Schedules a list's changed presence for the end of the interval. The connection that causes the announcement
    /// first is charged for telling everybody.
    func announce(_ hosted: ListMachine, for connection: Connection? = nil) {
        guard hosted.presence.hasChanges else { return }
        if peers?.isNew(hosted.presence, of: hosted.list.number) == true { peers?.exchangeSoon(now: now) }
        guard delivery.announce(hosted.list.number, now: now), let connection else { return }
        charge(connection, work: hosted.subscriberCount * Price.delivery)
    }

    /// The most people in one frame.
    static let presencePage = 512

    /// Sends one frame for each list, with the same bytes for all subscribers. A client that lags is told later.
    func sendPresence() {
        for hosted in delivery.takeAnnounced().compactMap({ lists[$0] }) where !hosted.awaitsPeerPresence {
            let before = hosted.takePresence()
            let (entries, end) = hosted.presence.entries(
                after: before, through: hosted.presence.taken, atMost: Self.presencePage)
            let isWhole = end == hosted.presence.taken
            let frame = isWhole ? FrameRun(DownMessage.presence(list: hosted.list.number, entries).frame) : nil
            for connection in hosted.subscribers {
                guard let isKept = connection.owePresence(of: hosted, since: before, frame) else { continue }
                if isKept {
                    mark(connection)
                } else {
                    let text = "\(PresenceBoard.maxGone) people left '\(hosted.list.name)' while nothing was read here"
                    fail(connection, .idleTimeout, text)
                }
            }
        }
    }
}
