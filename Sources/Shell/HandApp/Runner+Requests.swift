import HandFormats
import HandScreens
import HandSync
import HandWire

// Requests of screens, apart from the lists that they follow.

extension Runner {
    /// Sends a screen's request. The answer comes as an event.
    func ask(
        _ command: Command, _ message: (UInt64) -> UpMessage, _ event: @escaping (ClientMachine.Answer) -> Event?
    ) {
        engine.ask(message) { [weak self] answer in
            switch answer {
            case .error(_, let text): self?.take(.failed(command, Printable.clean(text)))
            case .disconnected: self?.take(.failed(command, "the server cannot be reached"))
            case .done, .lists, .deletedLists, .history, .state, .excerpt, .committed, .rejected, .stale, .people:
                if let event = event(answer) { self?.take(event) }
            }
        }
    }

    /// Requests all pages of the lists. Reports no error without a connection, because the screen already shows that
    /// the connection is missing.
    func askForLists(after: String = "", _ all: [DownMessage.ListEntry] = []) {
        engine.ask {
            .lists(request: $0, after: after)
        } _: { [weak self] answer in
            guard let self, case .lists(let page, let hasMore) = answer else { return }
            let all = all + page
            if hasMore, let last = page.last { askForLists(after: last.name, all) } else { take(.lists(all)) }
        }
    }
}
