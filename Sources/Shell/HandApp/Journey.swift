import EventLoop
import HandClient
import HandScreens

/// The way to another server, which is prepared on another thread: the preparation waits for the disk.
final class Journey {
    private let loop: Loop
    private let connect: Runner.Connect
    /// Called when the other server is prepared, or with the reason why it cannot be.
    private let arrived: (Location, (any Error)?) -> Void
    private var location: Location?
    /// The prepared server; nil until it is prepared.
    private(set) var destination: (location: Location, server: Runner.Server)?
    /// Whether the journal of the server that the user has left is being closed. It may be the other server's journal.
    private var isClosingJournal = false

    init(_ loop: Loop, connect: @escaping Runner.Connect, arrived: @escaping (Location, (any Error)?) -> Void) {
        (self.loop, self.connect, self.arrived) = (loop, connect, arrived)
    }

    func begin(to location: Location) {
        if self.location == location { return }
        (self.location, destination) = (location, nil)
        if !isClosingJournal { prepare(location) }
    }

    /// Ends the journey at the prepared server, while the journal of the former server is still being closed.
    func end() { (location, destination, isClosingJournal) = (nil, nil, true) }

    /// Call this when the former server's journal is closed.
    func closedJournal() {
        isClosingJournal = false
        if let location { prepare(location) }
    }

    private func prepare(_ location: Location) {
        Work.submit(loop) { [connect] in
            Result { try connect(location) }
        } then: { [weak self] outcome in
            guard let self, self.location == location else { return }
            do {
                destination = (location, try outcome.get())
                arrived(location, nil)
            } catch {
                self.location = nil
                arrived(location, error)
            }
        }
    }
}
