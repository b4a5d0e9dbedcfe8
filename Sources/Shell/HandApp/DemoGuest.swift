import HandClient
import HandCore
import HandWire

/// The second person of the demonstration: edits a list by itself, at the pace of a person.
package struct DemoGuest: Sendable {
    private var random: SplitMix64
    private var ideas = [
        "coffee", "a birthday card for Mia", "oranges", "rice", "batteries", "olive oil", "soap", "apples", "pasta",
        "tea lights", "basil", "cheese",
    ]

    package static let name = "Bob (scripted)"
    package static let list = "groceries"

    package init(seed: UInt64) {
        random = SplitMix64(seed: seed)
    }

    /// The list's contents at the start.
    package static let contents: [Content] = [
        .heading("This week"), .task("milk", done: false), .task("oat flakes", done: true), .task("bread", done: false),
        .note(
            "The baker closes at six on Saturdays. Whoever passes by first takes two loaves; the other one ticks it here."
        ),
        .link("how to make soup", url: "https://en.wikipedia.org/wiki/Soup"), .heading("Later"),
        .task("a lamp for the hall", done: false), .task("漢字 and 🍊 stay in their columns", done: false),
    ]

    /// Returns the guest's next step: the item that the guest goes to, and perhaps an edit.
    mutating func next(_ list: Hand) -> (focus: ItemID?, delta: Delta?) {
        guard !list.isEmpty else { return (nil, addition(to: list)) }
        let index = random.next(below: list.count)
        let item = list[index]
        switch random.next(below: 10) {
        case 0...2: return (item.id, addition(to: list))
        case 3...5:
            guard case .task(_, let done) = item.content else { return (item.id, nil) }
            return (item.id, Delta.editing(at: index, Change(done: !done)))
        case 6, 7:
            return (item.id, Delta.moving(index..<index + 1, to: random.next(below: list.count + 1), .after))
        case 8 where list.count > 14: return (item.id, Delta.deleting(index..<index + 1))
        default: return (item.id, nil)
        }
    }

    private mutating func addition(to list: Hand) -> Delta? {
        guard list.count < 24 else { return nil }
        let idea = ideas[random.next(below: ideas.count)]
        let item = Item(id: .random(using: &random), content: .task(idea, done: false))
        return Delta.inserting([item], at: random.next(below: list.count + 1), .after)
    }

    /// Creates the list with its first items.
    package mutating func prepare(on client: HandClient) async throws {
        try await client.connected()
        try await client.create(Self.list)
        let list = try await client.open(Self.list)
        _ = try await list.live()
        let items = Self.contents.map { Item(id: .random(using: &random), content: $0) }
        try await list.edit { _ in Delta.inserting(items, at: 0, .after) }
        _ = try await list.settled()
    }

    /// Edits the list until the task is cancelled.
    package func play(on client: HandClient) async throws {
        var guest = self
        let list = try await client.open(Self.list)
        while !Task.isCancelled {
            try await Task.sleep(for: .milliseconds(1_500 + guest.random.next(below: 1_500)))
            let view = try await list.state().view
            let (focus, delta) = guest.next(view)
            list.setPresence(focus.map { Focus($0) })
            guard let delta else { continue }
            try await Task.sleep(for: .milliseconds(700))
            // The user may have edited in the meantime; an edit that no longer fits is dropped.
            try? await list.edit { state in
                guard state.view == view else { throw CancellationError() }
                return delta
            }
        }
    }
}
