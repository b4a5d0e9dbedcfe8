import HandClient
import HandSync

/// Sends the waiting edits of lists that no screen shows. While this program runs, no other program can send what this
/// program's journal holds.
final class OtherLists {
    private let client: JournaledClient
    /// The lists that are followed only until their edits are sent.
    private var sending: Set<String> = []

    init(_ client: JournaledClient) {
        self.client = client
    }

    /// Call this when the server has been reached.
    func connected() {
        client.askJournal(otherwise: []) {
            try $0.waitingLists()
        } then: { [weak self] lists in
            for list in (try? lists.get()) ?? [] { self?.send(list) }
        }
    }

    /// Call this when the lists may have changed.
    func listsChanged() {
        for list in sending {
            guard let subscription = client.machine.subscriptions[list] else { continue }
            guard subscription.isLive, !subscription.replica.hasPending else { continue }
            sending.remove(list)
            client.perform { $0.close(list) }
        }
    }

    func contains(_ list: String) -> Bool { sending.contains(list) }

    /// A screen shows the list from now on.
    func remove(_ list: String) { sending.remove(list) }

    private func send(_ list: String) {
        if client.isClosed || client.isFollowed(list) { return }
        sending.insert(list)
        client.follow(list) { [weak self] outcome in
            if case .failure = outcome { self?.sending.remove(list) }
        }
    }
}
