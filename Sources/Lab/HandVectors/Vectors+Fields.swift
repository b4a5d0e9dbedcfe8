import HandCore
import HandFormats
import HandWire

// The fields of a message, read from the value itself: a field that is added to a message is in the vectors at once.

extension Vectors {
    /// Returns the name of a message in `Protocol.md`, which is that of its case, and its fields.
    package static func members(of message: Any) -> [JSONValue.Member] {
        let name = Mirror(reflecting: message).children.first?.label ?? "\(message)"
        return [.init("message", .string(name)), .init("fields", fields(of: message))]
    }

    /// Returns the fields of a message as one JSON object. What has a JSON form of its own is in that form.
    private static func fields(of message: Any) -> JSONValue {
        guard let payload = Mirror(reflecting: message).children.first?.value else { return .object([]) }
        let fields = value(payload, "value")
        if case .object(let members) = fields, !isLabelled(payload) { return .object(members) }
        return .object([.init(name(of: payload), fields)])
    }

    /// Whether a value is written as one field, rather than as an object with its own fields.
    private static func isLabelled(_ value: Any) -> Bool {
        switch Mirror(reflecting: value).displayStyle {
        case .tuple, .struct: false
        default: true
        }
    }

    private static func object(_ submission: Submission) -> JSONValue {
        let how = submission.isExact ? 1 : submission.lag == 0 ? 0 : submission.lag + 1
        return JSONValue(fields: [
            "list": submission.list, "base": submission.base, "sequence": submission.sequence, "how": how,
            "delta": JSON.delta(submission.delta),
        ])
    }

    private static func object(_ value: Any) -> JSONValue {
        .object(
            Mirror(reflecting: value).children.map { child in
                let label = child.label.map { $0.hasPrefix(".") ? name(of: child.value) : $0 } ?? name(of: child.value)
                return JSONValue.Member(label, Self.value(child.value, label))
            })
    }

    /// The name of a field that has none in the code.
    private static func name(of value: Any) -> String {
        switch value {
        case is Commit: "commit"
        case is [Commit]: "commits"
        case is Rejection: "rejection"
        case is Excerpt: "excerpt"
        case is Focus?: "focus"
        case is UInt64: "nonce"
        default: "entries"
        }
    }

    private static func value(_ value: Any, _ label: String) -> JSONValue {
        switch value {
        case let item as Item: return JSON.item(item)
        case let items as Hand: return JSON.items(items)
        case let delta as Delta: return JSON.delta(delta)
        case let commit as Commit: return JSON.commit(commit)
        case let rules as Rules: return JSON.rules(rules)
        case let submission as Submission: return object(submission)
        case let rejection as Rejection: return JSON.rejection(rejection)
        case let id as ItemID: return JSON.id(id)
        case let ids as ClosedRange<ItemID>: return [JSON.id(ids.lowerBound), JSON.id(ids.upperBound)]
        case let client as ClientID: return .string(Hex.text(client.high) + Hex.text(client.low))
        case let word as UInt64 where ["logID", "digest"].contains(label): return .string(Hex.text(word))
        case let number as UInt64: return JSONValue(number)
        case let number as any TypedNumber: return JSONValue(number.rawValue)
        case let number as Int: return JSONValue(number)
        case let flag as Bool: return .bool(flag)
        case let text as String: return .string(text)
        case let mask as Capabilities: return JSONValue(mask.rawValue)
        default: return compound(value, label)
        }
    }

    private static func compound(_ value: Any, _ label: String) -> JSONValue {
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .optional: return mirror.children.first.map { Self.value($0.value, label) } ?? .null
        case .collection: return .array(mirror.children.map { Self.value($0.value, label) })
        case .enum:
            guard let payload = mirror.children.first else { return .string("\(value)") }
            return .object([.init(payload.label ?? "", Self.value(payload.value, "value"))])
        default: return object(value)
        }
    }
}
