import EventLoop
import HandClient
import HandScreens

/// The way to another server. The preparation waits for the disk, so it runs on another thread.
final class Journey {
    private let loop: Loop
    private let connect: Runner.Connect
    /// Called when the other server is prepared, or with the reason why it cannot be.
    private let arrived: (Location, (any Error)?) -> Void
    private var state = State.none
    /// Whether the journal of the server that the user has left is being closed. It may be the other server's journal.
    private var isClosingJournal = false

    private enum State {
        case none
        case preparing(Location)
        case ready(Location, Runner.Server)
    }

    init(_ loop: Loop, connect: @escaping Runner.Connect, arrived: @escaping (Location, (any Error)?) -> Void) {
        (self.loop, self.connect, self.arrived) = (loop, connect, arrived)
    }

    func begin(to location: Location) {
        switch state {
        case .preparing(location), .ready(location, _): return
        case .none, .preparing, .ready: state = .preparing(location)
        }
        if !isClosingJournal { prepare(location) }
    }

    /// The prepared server; nil if there is none.
    var destination: (location: Location, server: Runner.Server)? {
        if case .ready(let location, let server) = state { (location, server) } else { nil }
    }

    /// Ends the journey at the prepared server, while the journal of the former server is still being closed.
    func end() { (state, isClosingJournal) = (.none, true) }

    /// Call this when the former server's journal is closed.
    func closedJournal() {
        isClosingJournal = false
        if case .preparing(let location) = state { prepare(location) }
    }

    private func prepare(_ location: Location) {
        Work.submit(loop) { [connect] in
            Result { try connect(location) }
        } then: { [weak self] outcome in
            guard let self, case .preparing(location) = state else { return }
            switch outcome {
            case .success(let server):
                state = .ready(location, server)
                arrived(location, nil)
            case .failure(let error):
                state = .none
                arrived(location, error)
            }
        }
    }
}
