import HandCore

// Deltas and commits as bytes (`Protocol.md`, “Deltas”).

/// What the three low bits of a component's head say.
private enum Code {
    static let keep: UInt64 = 0
    static let edit: UInt64 = 1
    static let delete: UInt64 = 2
    static let pick: UInt64 = 3
    /// Plus one for `before`.
    static let insert: UInt64 = 4
    static let drop: UInt64 = 6
}

extension WireWriter {
    public mutating func delta(_ delta: Delta) {
        varint(delta.componentCount)
        for component in delta.components {
            switch component {
            case .keep(let count): head(UInt64(count), Code.keep)
            case .delete(let count): head(UInt64(count), Code.delete)
            case .pick(let count): head(UInt64(count), Code.pick)
            case .edit(let change):
                head(UInt64(change.fields.rawValue), Code.edit)
                fields(of: change)
            case .insert(let items, let side):
                head(UInt64(items.count), Code.insert + UInt64(side.rawValue))
                for item in items { self.item(item) }
            case .drop(let slots, let side, let change):
                head(UInt64(slots.count), Code.drop + UInt64(side.rawValue))
                varint(UInt64(slots.lowerBound) << 1 | (change == nil ? 0 : 1))
                if let change {
                    varint(UInt64(change.fields.rawValue))
                    fields(of: change)
                }
            }
        }
    }

    private mutating func head(_ number: UInt64, _ code: UInt64) {
        varint(number << 3 | code)
    }

    /// Everything of a commit, the list that it belongs to excepted.
    public mutating func commit(_ commit: Commit) {
        header(of: commit)
        delta(commit.delta)
    }

    /// What stands in front of a commit's delta.
    mutating func header(of commit: Commit) {
        varint(commit.revision)
        varint(commit.author)
        varint(commit.sequence)
        varint(commit.revision - commit.base)
        varint(commit.time)
        varint(commit.count)
        word(commit.digest)
    }
}

extension WireReader {
    public mutating func delta() throws(WireError) -> Delta {
        let number = try count("number of components", limit: remaining)
        var components: [Delta.Component] = []
        components.reserveCapacity(min(number, 4096))
        for _ in 0..<number { components.append(try component()) }
        let delta: Delta
        do { delta = try Delta(components) } catch { throw .malformedDelta(error) }
        // In normal form nothing was joined, left out or turned to the other side.
        guard delta.componentCount == number, delta.hasSides(of: components) else { throw .notNormalForm }
        return delta
    }

    private mutating func component() throws(WireError) -> Delta.Component {
        let head = try varint("head of a component")
        let number = head >> 3
        guard number <= UInt64(Int32.max) else {
            throw .tooLarge(field: "count of a component", limit: Int(Int32.max), found: number)
        }
        let count = Int(number)
        switch head & 7 {
        case Code.keep: return .keep(count)
        case Code.edit: return .edit(try change(number))
        case Code.delete: return .delete(count)
        case Code.pick: return .pick(count)
        case Code.insert: return .insert(try items(count), .after)
        case Code.insert + 1: return .insert(try items(count), .before)
        case Code.drop: return try drop(count, .after)
        default: return try drop(count, .before)
        }
    }

    private mutating func items(_ count: Int) throws(WireError) -> [Item] {
        // An item takes ten bytes at least, so this many may be reserved for.
        guard count <= remaining / 10 else { throw .truncated(field: "inserted items") }
        var items: [Item] = []
        items.reserveCapacity(count)
        for _ in 0..<count { items.append(try item()) }
        return items
    }

    private mutating func drop(_ count: Int, _ side: Side) throws(WireError) -> Delta.Component {
        let slot = try varint("first slot of a drop")
        guard slot >> 1 <= UInt64(Int32.max) else {
            throw .tooLarge(field: "first slot of a drop", limit: Int(Int32.max), found: slot >> 1)
        }
        let start = Int(slot >> 1)
        let change = slot & 1 == 0 ? nil : try change(try varint("fields of a change"))
        return .drop(start..<start + count, side, change)
    }

    public mutating func commit() throws(WireError) -> Commit {
        let revision = try revision("revision")
        let author = try varint("author")
        let sequence = try varint("sequence")
        let lag = try count("revisions since the base", limit: revision)
        let time = try varint("time")
        let number = try count("number of items")
        let digest = try word("digest")
        return Commit(
            revision: revision, author: author, sequence: sequence, base: revision - lag, time: time, count: number,
            digest: digest, delta: try delta())
    }
}

extension Delta {
    fileprivate func hasSides(of components: [Component]) -> Bool {
        for (index, component) in components.enumerated() {
            switch component {
            case .insert(_, let side), .drop(_, let side, _): if self.side(ofComponent: index) != side { return false }
            default: break
            }
        }
        return true
    }
}
