import Foundation
import HandClient
import HandCore
import HandSync

/// Bots that play on one hand of five cards until it is a flush: each bot deals while there is room, or discards a card
/// that does not fit. Nobody is ever dealt a card that is on the table.
@main
enum FiveCards {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let count = Int(arguments[3]), count > 0 else {
            FileHandle.standardError.write(Data("usage: five-cards ADDRESS LIST BOTS\n".utf8))
            exit(2)
        }
        do { try await play(arguments[1], arguments[2], bots: count) } catch { end("\(error)") }
    }

    private static func end(_ reason: String) -> Never {
        FileHandle.standardError.write(Data("five-cards: \(reason)\n".utf8))
        exit(1)
    }

    private static func play(_ address: String, _ name: String, bots count: Int) async throws {
        let host = try HandClient(ClientConfiguration(address: address, person: "host", program: "five-cards/1"))
        try await host.connected()
        if try await !host.lists().contains(where: { $0.name == name }) {
            try await host.create(name, rules: .fiveCards)
        }
        let table = try await host.open(name)
        let rules = try await table.live().view.rules
        guard rules.hasDeck, rules.maximumCount >= 5 else {
            end("'\(name)' is no table for five cards from a deck. Name a list that does not exist: it is made")
        }
        try await withThrowingTaskGroup(of: Void.self) { bots in
            for number in 1...count { bots.addTask { try await play(address, name, "bot \(number)") } }
            try await bots.waitForAll()
        }
        let hand = try await table.live().view
        print(hand.map(text).joined(separator: " "))
        await host.close()
    }

    private static func text(of item: Item) -> String {
        if case .card(let card) = item.content { "\(card)" } else { "?" }
    }

    private static func suit(of item: Item) -> Card.Suit? {
        if case .card(.faceUp(_, let suit)) = item.content { suit } else { nil }
    }

    /// Plays until five cards of one suit are on the table.
    private static func play(_ address: String, _ name: String, _ person: String) async throws {
        let client = try HandClient(ClientConfiguration(address: address, person: person, program: "five-cards/1"))
        let table = try await client.open(name)
        while true {
            let view = try await table.live().view
            if isFlush(view) { break }
            // Others play at the same time. The rules refuse a move that no longer fits, and the bot looks again.
            do { try await table.edit(move) } catch ClientError.notMade {}
            _ = try await table.settled()
        }
        await client.close()
    }

    private static func isFlush(_ view: Hand) -> Bool {
        view.count == 5 && Set(view.map { suit(of: $0) }).count == 1 && view.allSatisfy { suit(of: $0) != nil }
    }

    /// Deals a card, or discards one whose suit is rare. Does nothing once the hand is a flush.
    private static func move(_ state: ListState) -> Delta {
        let view = state.view
        if isFlush(view) { return .identity }
        guard view.count == 5 else {
            var random = SystemRandomNumberGenerator()
            let back = Item(id: .random(using: &random), content: .card(.faceDown))
            return .inserting([back], at: view.count, .after)
        }
        let counts = Dictionary(grouping: view.compactMap { suit(of: $0) }) { $0 }.mapValues(\.count)
        let worst = view.enumerated().min {
            counts[suit(of: $0.element) ?? .clubs, default: 0] < counts[suit(of: $1.element) ?? .clubs, default: 0]
        }
        let index = worst?.offset ?? 0
        return .deleting(index..<index + 1)
    }
}
