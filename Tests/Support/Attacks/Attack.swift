import HandCore
import HandWire

/// One way to harm a server, over real sockets.
package struct Attack: Sendable, CustomStringConvertible {
    package let name: String
    /// The refusals that the server must send, each at least once.
    package let expected: Set<String>
    /// Runs the attack once.
    package let play: @Sendable (AttackRange, inout Outcome) throws -> Void

    init(
        _ name: String, expecting expected: Set<String>,
        _ play: @escaping @Sendable (AttackRange, inout Outcome) throws -> Void
    ) {
        self.name = name
        self.expected = expected
        self.play = play
    }

    package var description: String { name }

    /// The result of an attack.
    package struct Outcome: Sendable {
        /// The number of refusals of each kind.
        package private(set) var refusals: [String: Int] = [:]
        /// What should not have been possible.
        package private(set) var breaches: [String] = []

        package init() {}

        mutating func note(_ messages: [DownMessage]) {
            for refusal in messages.compactMap(\.refusal) { refusals[refusal, default: 0] += 1 }
        }

        package mutating func note(_ refusal: String) { refusals[refusal, default: 0] += 1 }

        /// Records a breach unless `holds` is true.
        mutating func expect(_ holds: Bool, _ breach: @autoclosure () -> String) {
            if !holds { breaches.append(breach()) }
        }
    }

    package static let all = others + gluttons
    package static let others = strangers + insiders + brutes

    /// Returns one request of each kind that names a list, and twice those that name two.
    static func everyRequest(name: String) -> [UpMessage] {
        [
            .subscribe(.init(request: 9, name: name, logID: 0, revision: 0)),
            .create(request: 9, name: name, rules: Rules()), .delete(request: 9, name: name),
            .lists(request: 9, after: name), .history(request: 9, name: name, from: 1, limit: 5),
            .fetch(request: 9, name: name, revision: nil), .excerpt(.init(request: 9, name: name, [])),
            .rename(request: 9, name: name, newName: "x"), .rename(request: 9, name: "x", newName: name),
            .undelete(request: 9, name: name, deletion: nil, newName: "x"),
            .undelete(request: 9, name: "x", deletion: nil, newName: name),
        ]
    }

    /// Returns one message of each kind, with numbers and names that an attacker could know.
    static func everyMessage(list: String, number: ListNumber = 1) -> [UpMessage] {
        let item = Item(id: ItemID(rawValue: .random(in: 1...UInt64.max)), content: .note("mine"))
        var sequence: SequenceNumber = 0
        func submission(_ operation: Delta) -> UpMessage {
            sequence = sequence.next
            return .submit(Submission(list: number, base: 1, sequence: sequence, delta: operation))
        }
        return [
            .subscribe(.init(request: 9, name: list, logID: 0, revision: 0)),
            submission(.inserting([item], at: 1, .after)),
            submission(.editing(at: 0, Change(text: TextChange(replacing: "", at: 0, with: "x")))),
            submission(.deleting(0..<1)), submission(.moving(0..<1, to: 2, .after)),
            .presence(list: number, nil), .history(request: 9, name: list, from: 1, limit: 5),
            .fetch(request: 9, name: list, revision: nil), .create(request: 9, name: "\(list)er", rules: Rules()),
            .delete(request: 9, name: list), .lists(request: 9, after: ""), .unsubscribe(list: number), .ping(1),
        ]
    }
}
