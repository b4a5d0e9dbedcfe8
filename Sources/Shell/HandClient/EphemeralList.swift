import HandCore
import HandSync
import HandWire

/// A list that a client edits once without following it. What the client asks for is sent behind the hello, so an edit
/// takes two round trips: one for what it needs to know of the list, and one for its submission.
public struct EphemeralList: Sendable {
    let client: HandClient
    public let name: String
    private let request: RequestNumber

    /// What an edit needs to know of a list.
    public enum Part: Sendable {
        case items([Excerpt.Selection])
        case all
    }

    fileprivate init(_ name: String, _ client: HandClient) async throws {
        (self.name, self.client) = (name, client)
        request = try await client.read { engine in
            guard let request = engine.client.perform({ $0.enter(name) }) else { throw engine.noAnswer(nil) }
            return request
        }
    }

    /// Returns a part of the list, at a revision or at present.
    public func part(_ part: Part, at revision: Int? = nil) async throws -> PartialList {
        switch part {
        case .items(let selections):
            return PartialList(try await client.excerpt(of: name, at: revision, selections))
        case .all:
            let state = try await client.state(of: name, at: revision)
            let logID = try await client.read { [request] in $0.client.machine.logID(of: request) }
            return PartialList(state.hand, logID: logID ?? 0, revision: state.revision)
        }
    }

    /// Makes an edit on a part of the list and waits for the server's answer. Returns nil if that part is too old: then
    /// the edit must be made anew. The edit is made only once, even if the connection is lost before the answer.
    ///
    /// - Parameter step: the step to note in the journal, if the edit undoes or redoes one of this client's commits.
    public func submit(
        _ delta: Delta, on list: PartialList, isExact: Bool = false, as step: UndoStep? = nil
    ) async throws -> Settlement? {
        do { try Replica.checkSize(of: delta) } catch { throw ClientError.notMade(error) }
        let answer = try await client.answer(orElse: .stale) { [request] in
            $0.submit(delta, on: list, isExact: isExact, step: step, request)
        }
        switch answer {
        case .committed(let revision, let notices, let commits):
            // The edit is made. What cannot be found out now, the next comparison finds out.
            try? await client.remember(commits, since: list.excerpt(for: delta), on: name)
            try? await client.continueCopy(of: name, in: list.logID, by: commits)
            let outcome = Settlement(revision: revision, notices: notices, commits: commits)
            return await client.naming(outcome, on: name)
        case .rejected(let reason): return Settlement(revision: nil, rejections: [reason], notices: [])
        case .stale: return nil
        default: throw HandClient.wrongAnswer
        }
    }

    /// Gives the list up without an edit.
    public func leave() {
        client.post { [request] engine in engine.client.perform { $0.leave(request) } }
    }
}

extension HandClient {
    /// Prepares an edit of a list that this client does not follow.
    public func enter(_ name: String) async throws -> EphemeralList { try await EphemeralList(name, self) }

    /// Edits a list that this client does not follow. `make` gets a part of the list as it is now, and again if the
    /// edit must be made anew. Returns nil if `make` returns nil.
    ///
    /// - Parameter keepsCopy: whether the journal keeps the list, for edits without the server. Needs the whole list.
    public func edit(
        _ name: String, knowing part: EphemeralList.Part = .items([]), isExact: Bool = false, keepsCopy: Bool = false,
        _ make: @Sendable (PartialList) async throws -> Delta?
    ) async throws -> Settlement? {
        while true {
            let list = try await enter(name)
            do {
                let known = try await list.part(part)
                if keepsCopy { try? await keep(known, of: name) }
                guard let delta = try await make(known) else {
                    list.leave()
                    return nil
                }
                if let outcome = try await list.submit(delta, on: known, isExact: isExact) {
                    return outcome
                }
            } catch {
                list.leave()
                throw error
            }
        }
    }

    /// Returns the other people on a list.
    public func people(on name: String) async throws -> [DownMessage.Presence] {
        guard case .people(let people) = try await answer({ $0.enter(name, isForPeople: true) }) else {
            throw Self.wrongAnswer
        }
        let own = try await read { $0.client.machine.author }
        return people.filter { $0.author != own }
    }
}
