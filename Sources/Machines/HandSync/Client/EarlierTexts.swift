import HandCore
import HandWire

/// The texts of the items that came into a list, the most frequent first: read from its newest commits.
package struct EarlierTexts: PagedRequest {
    /// How often a text came, and how many items were read before its newest one.
    private var texts: [String: (times: Int, age: Int)] = [:]
    private var read = 0
    private var commits: CommitPages

    /// How many of the newest commits are read.
    package static let maxCommits = 1_000
    /// The most items of one commit, and of all commits: an import says little about what people often add.
    private static let maxItems = (ofCommit: 100, inAll: 10_000)
    /// The longest text in bytes, and the most texts that are returned.
    private static let maxText = 200
    private static let maxTexts = 500

    package init(of name: String, at revision: Int) {
        commits = CommitPages(of: name, from: revision - Self.maxCommits + 1, through: revision)
    }

    package var request: (@Sendable (RequestNumber) -> UpMessage)? { commits.request }

    package mutating func take(_ answer: ClientMachine.Answer) {
        commits.take(answer)
        if commits.request != nil { return }
        for commit in commits.commits.reversed() {
            for item in commit.delta.items.prefix(Self.maxItems.ofCommit) { note(item.content) }
        }
    }

    private mutating func note(_ content: Content) {
        let text = content.text
        guard read < Self.maxItems.inAll, content.kind != .card, !text.isEmpty, text.utf8.count <= Self.maxText,
            !text.contains(where: \.isNewline)
        else { return }
        texts[text, default: (0, read)].times += 1
        read += 1
    }

    /// The most frequent texts first; of equally frequent ones, the newest first. O(n log n).
    package var ranked: [String] {
        texts.sorted { ($1.value.times, $0.value.age) < ($0.value.times, $1.value.age) }
            .prefix(Self.maxTexts).map(\.key)
    }
}
