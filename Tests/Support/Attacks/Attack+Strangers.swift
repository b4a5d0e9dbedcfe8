import HandCore
import HandWire

extension Attack {
    /// Clients that have not been admitted.
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
                // The server must not read what follows the hello at once.
                let answer = try client.hello(100 + UInt64(index), token: token)
                client.say(.lists(request: 1, after: ""))
                let heard = [answer].compactMap { $0 } + (try client.rest())
                outcome.note(heard)
                outcome.expect(heard.allSatisfy { $0.refusal != nil }, "admitted with the token \(token ?? "none")")
            }
        },
        Attack("guessing tokens from one address", expecting: ["notAuthenticated"]) { range, outcome in
            guard let host = Machine.address else { return outcome.noteNoNetwork() }
            for guess in 0..<40 {
                let client = try RawClient(host, range.port)
                _ = client.say(
                    .hello(
                        .init(
                            client: ClientID(high: 0, low: UInt64(guess)), person: "",
                            program: "", token: "hand-\(guess)")))
                outcome.note(try client.rest())
            }
            outcome.expect(outcome.refusals["notAuthenticated"] == 40, "not every wrong guess was rejected")
            // A client with a valid token gets in, even from the same address.
            let neighbour = try RawClient(host, range.port)
            if case .welcome = try neighbour.hello(201, token: range.tokens["reader"]) {
            } else {
                outcome.expect(false, "a valid token was not admitted from the guesser's address")
            }
            // Clients at other addresses are not affected.
            let other = try range.client()
            if case .welcome = try other.hello(200, token: range.tokens["reader"]) { return }
            outcome.expect(false, "somebody from another address was not admitted")
        },
        Attack("a second hello, and another's in between", expecting: ["outOfOrder"]) { range, outcome in
            let client = try range.client()
            _ = try client.hello(300, token: range.tokens["reader"])
            let hello = UpMessage.Hello(
                client: ClientID(high: 0xA77, low: 1), person: "root", program: "",
                token: range.tokens["root"])
            client.say(.hello(hello))
            client.say(.delete(request: 1, name: AttackRange.list))
            outcome.note(try client.rest())
        },
    ]
}

extension Attack.Outcome {
    /// A machine without a network cannot run this attack, so the expected refusals are simply recorded.
    mutating func noteNoNetwork() {
        for refusal in ["notAuthenticated", "tooManyConnections"] { note(refusal) }
    }
}
