import HandFormats
import HandScreens
import HandSync
import HandWire

// Requests of screens, beside the lists that they follow.

extension Runner {
    /// Sends a screen's request. The answer comes as an event.
    func ask(_ command: Command) {
        switch command {
        case .fetchLists: askForLists(after: "", [])
        case .create(let name, let rules):
            ask(command) {
                .create(request: $0, name: name, rules: rules)
            } _: { _ in
                .done(command)
            }
        case .deleteList(let name):
            ask(command) {
                .delete(request: $0, name: name)
            } _: { _ in
                .done(command)
            }
        case .fetchHistory(let name, let from, let limit):
            ask(command) {
                .history(request: $0, name: name, from: from, limit: limit)
            } _: { answer in
                guard case .history(let commits, let people) = answer else { return nil }
                let names = Dictionary(people.map { ($0.author, $0.name) }, uniquingKeysWith: { $1 })
                return .history(list: name, commits, people: names)
            }
        case .fetchState(let name, let revision):
            ask(command) {
                .fetch(request: $0, name: name, revision: revision)
            } _: { answer in
                guard case .state(let hand, let revision) = answer else { return nil }
                return .state(list: name, revision: revision, hand)
            }
        default: break
        }
    }

    private func ask(
        _ command: Command, _ message: (UInt64) -> UpMessage, _ event: @escaping (ClientMachine.Answer) -> Event?
    ) {
        engine.ask(message) { [weak self] answer in
            switch answer {
            case .error(_, let text): self?.take(.failed(command, Printable.clean(text)))
            case .disconnected: self?.take(.failed(command, "the server cannot be reached"))
            default: if let event = event(answer) { self?.take(event) }
            }
        }
    }

    /// All pages of the lists; silent without a connection, as the screen says that already.
    private func askForLists(after: String, _ all: [DownMessage.ListEntry]) {
        engine.ask {
            .lists(request: $0, after: after)
        } _: { [weak self] answer in
            guard let self, case .lists(let page, let hasMore) = answer else { return }
            let all = all + page
            if hasMore, let last = page.last { askForLists(after: last.name, all) } else { take(.lists(all)) }
        }
    }
}
