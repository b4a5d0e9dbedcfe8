import HandCore
import HandSimulation
import HandWire

/// Well-formed messages of clients. The input chooses their fields.
enum ServiceMessages {
    private static let names = ["a", "b", "deck", "ä-1", "none", "-bad", ""]

    static func hello(_ input: inout Input) -> UpMessage {
        let choice = input.byte()
        let (lowest, highest) =
            switch choice {
            case ..<240: (ProtocolVersion.lowest, ProtocolVersion.highest)
            case ..<245: (ProtocolVersion.lowest, 9)
            case ..<250: (1, 2)
            default: (Int(choice), 9)
            }
        return .hello(
            UpMessage.Hello(
                lowestVersion: lowest, highestVersion: highest,
                capabilities: Capabilities(rawValue: UInt64(choice & 1)),
                client: ClientID(high: 0, low: UInt64(choice / 2 % 4)), person: choice & 8 == 0 ? "" : "p",
                program: "fuzz"))
    }

    static func any(_ input: inout Input, _ stream: FuzzStream) -> UpMessage {
        switch input.below(15) {
        case 0, 1: return subscribe(&input, stream)
        case 2: return .unsubscribe(list: input.number())
        case 3, 4, 5, 6: return .submit(submission(&input, stream))
        case 7: return .presence(list: input.number(), input.flag() ? Focus(number: input.number()) : nil)
        case 8: return .ping(input.number())
        case 9: return create(&input)
        case 10: return .delete(request: input.number(), name: name(&input))
        case 11: return .lists(request: input.number(), after: name(&input))
        case 12:
            return .history(
                request: input.number(), name: name(&input), from: revision(&input), limit: count(&input))
        case 13:
            let selections: [Excerpt.Selection] = (0..<input.below(4)).map { _ in
                if input.flag() { return .positions(start: count(&input), count: count(&input)) }
                let (one, other) = (ItemID(rawValue: input.number()), ItemID(rawValue: input.number()))
                return .ids(min(one, other)...max(one, other))
            }
            return .excerpt(
                UpMessage.ExcerptRequest(
                    request: input.number(), name: name(&input), revision: input.flag() ? revision(&input) : nil,
                    from: count(&input), selections))
        default: return naming(&input)
        }
    }

    /// Returns a message that gives a list a name, or asks for deleted lists.
    private static func naming(_ input: inout Input) -> UpMessage {
        switch input.below(4) {
        case 0: .rename(request: input.number(), name: name(&input), newName: name(&input))
        case 1:
            .undelete(
                request: input.number(), name: name(&input), deletion: input.flag() ? UInt64(input.below(4)) : nil,
                newName: name(&input))
        case 2: .deletedLists(request: input.number(), before: input.flag() ? UInt64(input.below(4)) : nil)
        default:
            .fetch(request: input.number(), name: name(&input), revision: input.flag() ? revision(&input) : nil)
        }
    }

    private static func name(_ input: inout Input) -> String {
        let choice = input.below(40)
        return choice < names.count ? names[choice] : names[choice % 3]
    }

    private static func revision(_ input: inout Input) -> Int { Int(min(input.number(), 1 << 53 - 1)) }
    private static func count(_ input: inout Input) -> Int { Int(min(input.number(), 1 << 31 - 1)) }

    private static func subscribe(_ input: inout Input, _ stream: FuzzStream) -> UpMessage {
        let known = stream.heard.lists[listNumber(&input)]
        return .subscribe(
            UpMessage.Subscribe(
                request: input.number(), name: name(&input), logID: known?.logID ?? input.number(),
                revision: revision(&input), wantsItems: input.below(4) > 0))
    }

    private static func create(_ input: inout Input) -> UpMessage {
        let name = name(&input)
        var rules = Rules(hasDeck: name == "deck")
        let choice = input.byte()
        if choice & 1 == 1 { rules.maximumCount = count(&input) }
        if choice & 2 == 2 { rules.maximumSize = count(&input) }
        if choice & 4 == 4 { rules.allowedKinds = [.task, .card] }
        return .create(request: input.number(), name: name, rules: rules)
    }

    private static func listNumber(_ input: inout Input) -> ListNumber {
        ListNumber(rawValue: UInt64(1 + input.below(3)))
    }

    private static func submission(_ input: inout Input, _ stream: FuzzStream) -> Submission {
        let list: ListNumber = input.below(8) == 7 ? input.number() : listNumber(&input)
        let known = stream.heard.lists[list]
        let isWild = input.below(16) == 15
        let base = isWild ? revision(&input) : max(0, (known?.revision ?? 0) - input.below(4))
        let sequence = isWild ? input.number() : stream.nextSequence(in: list)
        return Submission(
            list: list, base: base, sequence: sequence, isExact: input.below(8) == 7,
            lag: min(base, input.below(3)), delta: delta(&input, count: known?.count ?? 0))
    }

    private static func delta(_ input: inout Input, count: Int) -> Delta {
        var chaos = Chaos(seed: input.seed())
        switch input.below(8) {
        case 0:
            let bytes = input.bytes(input.below(40))
            let delta = try? bytes.withUnsafeBytes { all in
                var reader = WireReader(all)
                return try reader.delta()
            }
            return delta ?? .identity
        case 1:
            let face = Card(code: UInt8(input.below(53))) ?? .faceDown
            let item = Item(id: ItemID(rawValue: input.number()), content: .card(face))
            return Delta.inserting([item], at: input.below(count + 1), .before)
        case 2:
            let text = String(repeating: "x", count: 1 + input.below(256) * 64)
            let items = (0..<(1 + input.below(20))).map { _ in
                Item(id: .random(using: &chaos.random), content: .note(text))
            }
            return Delta.inserting(items, at: 0, .after)
        case 3:
            let start = input.below(count + 1)
            return Delta.deleting(start..<max(start, count))
        default: return chaos.edit(on: Hand(chaos.items(count)))
        }
    }
}

extension Focus {
    /// Half of all numbers mean that it is being edited.
    init(number: UInt64) {
        self.init(ItemID(rawValue: number), isEditing: number & 1 == 1)
    }
}
