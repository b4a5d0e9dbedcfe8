import HandCore

// Deltas and commits as JSON.

extension JSON {
    /// Returns the components from left to right: `[{"keep":3},{"edit":{"done":true}},{"delete":2},{"pick":1},
    /// {"insert":[…],"side":"after"},{"drop":[0,1],"side":"before","change":{…}}]`.
    ///
    /// A drop names its slots as a half-open range: the first slot, and the slot after the last one.
    package static func delta(_ delta: Delta) -> JSONValue {
        .array(delta.components.map(component))
    }

    private static func component(_ component: Delta.Component) -> JSONValue {
        switch component {
        case .keep(let count): return ["keep": JSONValue(count)]
        case .edit(let change): return ["edit": self.change(change)]
        case .delete(let count): return ["delete": JSONValue(count)]
        case .pick(let count): return ["pick": JSONValue(count)]
        case .insert(let items, let side): return ["insert": self.items(items), "side": self.side(side)]
        case .drop(let slots, let side, let change):
            return JSONValue(fields: [
                "drop": [slots.lowerBound, slots.upperBound], "side": self.side(side),
                "change": change.map(self.change),
            ])
        }
    }

    package static func side(_ side: Side) -> JSONValue { side == .after ? "after" : "before" }

    package static func side(from field: JSONField) throws(FormatError) -> Side {
        try field.choice(["after": Side.after, "before": Side.before])
    }

    /// Reads components in any form; the resulting delta is in normal form.
    package static func delta(from field: JSONField) throws(FormatError) -> Delta {
        let places = try field.elements("an array of components")
        let components = try places.map(component(from:))
        do {
            return try Delta(components)
        } catch {
            switch error {
            case .negativeCount(let index): throw places[index].mismatch("a count that is not negative")
            case .changedBlock(let index): throw places[index].mismatch("a single slot beside a change")
            case .slotsDoNotMatch(let picked):
                let slots =
                    picked == 0 ? "no drops, as nothing is picked" : "drops that name \(slotNames(picked)) once"
                throw field.mismatch(slots)
            }
        }
    }

    private static func slotNames(_ picked: Int) -> String {
        picked == 1 ? "slot 0" : "each of the slots 0 to \(picked - 1)"
    }

    private static func component(from field: JSONField) throws(FormatError) -> Delta.Component {
        let sorts = ["keep", "edit", "delete", "pick", "insert", "drop"]
        guard case .object = field.value, let sort = sorts.first(where: { field[$0].isPresent }) else {
            throw field.mismatch("an object with one of the fields " + sorts.joined(separator: ", "))
        }
        let more = ["insert": ["side"], "drop": ["side", "change"]]
        try field.expectObject(only: [sort] + (more[sort] ?? []))
        let argument = field[sort]
        switch sort {
        case "keep": return .keep(try argument.count())
        case "edit": return .edit(try change(from: argument))
        case "delete": return .delete(try argument.count())
        case "pick": return .pick(try argument.count())
        case "insert": return .insert(try argument.list(item(from:)), try side(from: field["side"]))
        default:
            return .drop(
                try slots(from: argument), try side(from: field["side"]),
                try field["change"].ifPresent(change(from:)))
        }
    }

    private static func slots(from field: JSONField) throws(FormatError) -> Range<Int> {
        let expected = "the first slot and the one after the last"
        let bounds = try field.elements(expected)
        guard bounds.count == 2 else { throw field.mismatch(expected) }
        let first = try bounds[0].count()
        return first..<(try bounds[1].integer(first...Rules.unlimitedCount))
    }
}

// MARK: - Commits

extension JSON {
    /// `{"revision":7,"author":2,"sequence":3,"base":5,"time":1767225600000,"count":4,"digest":"…","delta":[…]}`, and
    /// `refused` with the reason if the commit is a refusal.
    ///
    /// - Parameters:
    ///   - person: the author's name, written as `person`.
    ///   - date: the time for people (`date(milliseconds:)`), written as `at`.
    ///   - changes: the effect on each item (`changes(_:from:to:)`).
    package static func commit(
        _ commit: Commit, person: String? = nil, at date: String? = nil, changes: JSONValue? = nil
    ) -> JSONValue {
        JSONValue(fields: [
            "revision": commit.revision, "author": commit.author, "sequence": commit.sequence, "base": commit.base,
            "time": commit.time, "count": commit.count, "digest": Hex.text(commit.digest),
            "delta": delta(commit.delta), "refused": commit.refusal.map(rejection), "person": person, "at": date,
            "changes": changes,
        ])
    }

    /// Ignores `person`, `at`, `changes` and fields that no commit has.
    package static func commit(from field: JSONField) throws(FormatError) -> Commit {
        try field.expectObject("a commit")
        let revision = try field["revision"].revision()
        let (delta, refusal) = (try delta(from: field["delta"]), try field["refused"].ifPresent(rejection(from:)))
        if refusal != nil, !delta.isIdentity { throw field["delta"].mismatch("no components in a refusal") }
        return Commit(
            revision: revision, author: try field["author"].number(),
            sequence: try field["sequence"].number(),
            base: try field["base"].integer(0...max(0, revision - 1)),
            time: try field["time"].integer(0...UInt64.max), count: try field["count"].count(),
            digest: try field["digest"].word(), delta: delta, refusal: refusal)
    }
}
