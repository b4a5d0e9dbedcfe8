import HandCore
import HandWire

extension Attack {
    /// Those who have not been let in.
    static let strangers = [
        Attack("every message before the hello", expecting: ["outOfOrder"]) { range, outcome in
            for message in everyMessage(list: AttackRange.list) {
                let client = try range.client()
                client.say(message)
                let heard = try client.rest()
                outcome.note(heard)
                outcome.expect(heard.allSatisfy { $0.refusal != nil }, "\(message.name) before the hello was answered")
            }
        },
        Attack("no token, wrong, expired and revoked ones", expecting: ["notAuthenticated"]) { range, outcome in
            let known = ["expired", "revoked"].map { range.tokens[$0] }
            let wrong = (range.tokens["root"] ?? "").dropLast() + "!"
            for (index, token) in ([nil, String(wrong), "", "hand-"] + known).enumerated() {
                let client = try range.client()
                // What follows the hello at once must not be heard either.
                let answer = try client.hello(100 + UInt64(index), token: token)
                client.say(.lists(request: 1, after: ""))
                let heard = [answer].compactMap { $0 } + (try client.rest())
                outcome.note(heard)
                outcome.expect(heard.allSatisfy { $0.refusal != nil }, "let in with the token \(token ?? "none")")
            }
        },
        Attack("guessing tokens from one address", expecting: ["notAuthenticated"]) { range, outcome in
            guard let host = Machine.address else { return outcome.noteNoNetwork() }
            for guess in 0..<40 {
                let client = try RawClient(host, range.port)
                _ = client.say(
                    .hello(
                        .init(
                            capabilities: .presence, client: ClientID(high: 0, low: UInt64(guess)), person: "",
                            program: "", token: "hand-\(guess)")))
                outcome.note(try client.rest())
            }
            outcome.expect(outcome.refusals["notAuthenticated"] == 40, "not every guess was told that it is wrong")
            // Who has a right token gets in, also from there.
            let neighbour = try RawClient(host, range.port)
            if case .welcome = try neighbour.hello(201, token: range.tokens["reader"]) {
            } else {
                outcome.expect(false, "a right token was not let in from the guesser's address")
            }
            // Others are not hit by that.
            let other = try range.client()
            if case .welcome = try other.hello(200, token: range.tokens["reader"]) { return }
            outcome.expect(false, "somebody from another address was not let in")
        },
        Attack("a second hello, and another's in between", expecting: ["outOfOrder"]) { range, outcome in
            let client = try range.client()
            _ = try client.hello(300, token: range.tokens["reader"])
            let hello = UpMessage.Hello(
                capabilities: .presence, client: ClientID(high: 0xA77, low: 1), person: "root", program: "",
                token: range.tokens["root"])
            client.say(.hello(hello))
            client.say(.delete(request: 1, name: AttackRange.list))
            outcome.note(try client.rest())
        },
    ]
}

extension Attack.Outcome {
    /// A machine without a network cannot play this one; what is expected of it is taken as said.
    mutating func noteNoNetwork() {
        for refusal in ["notAuthenticated", "tooManyConnections"] { note(refusal) }
    }
}
