import Foundation
import HandClient
import HandCore
import HandSync

/// Ticks each task that contains a word as soon as somebody writes it.
@main
enum TickBot {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 3, let address = arguments.first, let word = arguments.last else {
            FileHandle.standardError.write(Data("usage: tick-bot ADDRESS LIST WORD\n".utf8))
            exit(2)
        }
        do { try await tick(address, Array(arguments)[1], word) } catch {
            say("\(error)")
            exit(1)
        }
    }

    private static func say(_ text: String) { FileHandle.standardError.write(Data("tick-bot: \(text)\n".utf8)) }

    private static func tick(_ address: String, _ name: String, _ word: String) async throws {
        let client = try HandClient(ClientConfiguration(address: address, person: "tick-bot", program: "tick-bot/1"))
        let list = try await client.open(name)
        var isAway = false
        for await event in list.events {
            switch event {
            case .changed(let state, _):
                // The closure receives the newest list, so no task is ticked twice, whatever happened in between.
                if open(in: state.view, with: word).isEmpty { continue }
                try await list.edit { .changing(open(in: $0.view, with: word).map { $0..<$0 + 1 }, Change(done: true)) }
            case .status(.online): isAway = false
            case .status(.offline(let reason, let wait)):
                guard wait != nil else { throw ClientError.unreachable(reason) }
                // The client tries again by itself, more often than anybody wants to read.
                if !isAway { say("the server cannot be reached: \(reason). Trying again until it answers") }
                isAway = true
            case .refused, .editsWait: _ = try await list.state()
            default: break
            }
        }
    }

    /// The places of the open tasks that contain the word.
    private static func open(in view: Hand, with word: String) -> [Int] {
        view.enumerated().compactMap { index, item in
            guard case .task(let text, done: false) = item.content, text.contains(word) else { return nil }
            return index
        }
    }
}
