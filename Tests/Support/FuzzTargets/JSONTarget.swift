import HandFormats
import HandVectors

enum JSONTarget {
    static func run(_ bytes: [UInt8]) throws {
        let line = String(decoding: bytes, as: UTF8.self)
        let answer = Vectors.answer(line: line)
        try check(!answer.utf8.contains(UInt8(ascii: "\n")), "an answer takes two lines: \(answer)")
        try check((try? JSONValue.parse(answer)) != nil, "an answer is no JSON: \(answer)")
        guard let value = try? JSONValue.parse(bytes) else { return }
        try check(try JSONValue.parse(value.bytes) == value, "a value does not read back: \(value.line)")
        try forms(value)
    }

    /// Whatever was read in one of the forms can be written and read back.
    private static func forms(_ value: JSONValue) throws {
        if let item = try? JSON.item(from: JSONField(value)) {
            try check(try JSON.item(from: JSONField(JSON.item(item))) == item, "an item does not read back: \(item)")
        }
        if let change = try? JSON.change(from: JSONField(value)) {
            try check(
                try JSON.change(from: JSONField(JSON.change(change))) == change,
                "a change does not read back: \(change)")
        }
        if let delta = try? JSON.delta(from: JSONField(value)) {
            try check(
                try JSON.delta(from: JSONField(JSON.delta(delta))) == delta,
                "a delta does not read back: \(delta.components)")
        }
        if let commit = try? JSON.commit(from: JSONField(value)) {
            try check(
                try JSON.commit(from: JSONField(JSON.commit(commit))) == commit,
                "a commit does not read back: \(commit)")
        }
        if let rules = try? JSON.rules(from: JSONField(value)) {
            try check(try JSON.rules(from: JSONField(JSON.rules(rules))) == rules, "rules do not read back: \(rules)")
        }
    }
}
