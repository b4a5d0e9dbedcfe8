import HandCore
import HandWire

// A list, or some items of it, at any revision, for a client that does not have it.

extension Service {
    /// A list at a revision.
    struct State {
        let hand: Hand
        let revision: Int
        /// Lives as long as a past state is needed.
        let hold: PastHold?
    }

    /// Answers a request from the list in memory, which is loaded if need be: who asks is likely to edit it next. A revision of
    /// long ago is read from the store.
    ///
    /// - Parameters:
    ///   - revision: nil for now.
    ///   - answer: has to end the request.
    func withState(
        of name: String, at revision: Int?, _ connection: Connection, _ request: UInt64,
        _ answer: @escaping (HostedList, State) -> Void
    ) {
        begin(connection)
        withHostedList(named: name, for: connection) { [unowned self] result in
            switch result {
            case .failure(let error):
                refuse(connection, request, error)
                end(connection)
            case .success(let hosted):
                hosted.idleSince = world.now
                let at = revision ?? hosted.authority.revision
                // What is forgotten is not told, though it may still be in memory.
                if at >= hosted.storeFloor, let hand = hosted.authority.hand(at: at) {
                    return give(State(hand: hand, revision: at, hold: nil), hosted, connection, request, answer)
                }
                withPast(hosted.list.number, at: at, connection) { [unowned self] result in
                    switch result {
                    case .failure(let error):
                        refuse(connection, request, error)
                        end(connection)
                    case .success(let hold):
                        guard let hand = hold.state.hand else { preconditionFailure("it was read") }
                        give(State(hand: hand, revision: at, hold: hold), hosted, connection, request, answer)
                    }
                }
            }
        }
    }

    private func give(
        _ state: State, _ hosted: HostedList, _ connection: Connection, _ request: UInt64,
        _ answer: (HostedList, State) -> Void
    ) {
        // The list may be gone by now, or the right to read it.
        if hostedLists[hosted.list.number] !== hosted || connection.access.role(on: hosted.list) < .read {
            refuse(connection, request, .noSuchList(hosted.list.name))
            return end(connection)
        }
        answer(hosted, state)
    }

    func excerpt(_ asked: UpMessage.ExcerptRequest, _ connection: Connection) {
        withState(of: asked.name, at: asked.revision, connection, asked.request) { [unowned self] hosted, state in
            let most = min(limits.answerBytes, limits.frameBytes) / 2
            let (hand, revision, logID) = (state.hand, state.revision, hosted.authority.logID)
            let make = { @Sendable in
                hand.excerpt(asked.selections, from: asked.start, about: most, logID: logID, revision: revision)
            }
            // Ids are looked for in all leaves of the list, which takes about a tenth of looking at each item.
            let looksForIDs = asked.selections.contains { if case .ids = $0 { true } else { false } }
            let work = looksForIDs ? hand.count / 10 : 0
            charge(connection, work: work)
            if work <= limits.inlineWork { return answer(make(), to: asked, connection) }
            world.compute(make) { [unowned self] excerpt in
                withExtendedLifetime(state.hold) { answer(excerpt, to: asked, connection) }
            }
        }
    }

    private func answer(_ excerpt: Excerpt, to asked: UpMessage.ExcerptRequest, _ connection: Connection) {
        charge(connection, work: excerpt.entries.count)
        send(.excerpt(request: asked.request, excerpt), to: connection)
        end(connection)
    }
}
