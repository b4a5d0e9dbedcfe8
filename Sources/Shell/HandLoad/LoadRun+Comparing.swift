import HandCore

// The comparison of the clients with the server at the end.

extension LoadRun {
    /// Fetches each list, waits until the clients have reached the server's revision, and compares.
    func compare(_ names: ArraySlice<String>) {
        guard let name = names.first else { return finish() }
        seeder?.fetch(name) { [unowned self] outcome in
            switch outcome {
            case .success(let state): compare(state.0, state.revision, name, names)
            case .failure(let error):
                result.problems.append("'\(name)' could not be compared: \(error.description)")
                compare(names.dropFirst())
            }
        }
    }

    private func compare(_ hand: Hand, _ revision: Int, _ name: String, _ names: ArraySlice<String>) {
        let mine = players.filter { $0.list == name }
        let behind = mine.count { $0.client.revision < revision }
        if behind > 0, seconds(since: phaseStart) < timeout {
            progress(.converging(mine.count - behind, of: mine.count))
            return later(Self.tick) { [unowned self] in compare(hand, revision, name, names) }
        }
        // Another process may have committed after the fetch.
        if mine.contains(where: { $0.client.revision > revision }), seconds(since: phaseStart) < timeout {
            return later(Self.tick) { [unowned self] in compare(names) }
        }
        let differences = mine.compactMap { Self.difference($0, hand, revision) }
        result.lists.append(
            LoadResult.Convergence(
                list: name, revision: revision, items: hand.count, digest: hand.digest,
                agreed: mine.count - differences.count, differences: differences))
        compare(names.dropFirst())
    }

    private static func difference(_ player: Player, _ hand: Hand, _ revision: Int) -> String? {
        guard let client = player.client else { return nil }
        let who = "client \(player.number + 1)"
        if client.revision != revision {
            return "\(who) is at revision \(client.revision), the server at \(revision)"
        }
        guard client.isSettled else { return "\(who) has edits that the server did not answer" }
        if let digest = client.digest, digest != hand.digest {
            return "\(who) has other items than the server at revision \(revision)"
        }
        return nil
    }
}
