import HandCore

// Deltas and commits as bytes (`Protocol.md`, “Bytes”).

/// The values of the three low bits of a component's head.
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
    package mutating func delta(_ delta: Delta) {
        if let edit = delta.single, edit.kind == .insert || edit.kind == .delete {
            return insertionOrDeletion(edit, delta.singleItem)
        }
        let steps = delta.steps
        varint(steps.count)
        for step in steps {
            switch step.kind {
            case .keep: head(step.count, Code.keep)
            case .delete: head(step.count, Code.delete)
            case .pick: head(step.count, Code.pick)
            case .edit:
                let change = delta.changes[step.change]
                head(Int(change.fields.rawValue), Code.edit)
                fields(of: change)
            case .insert:
                head(step.count, Code.insert + UInt64(step.side.rawValue))
                for item in delta.items[step.range] { self.item(item) }
            case .drop:
                head(step.count, Code.drop + UInt64(step.side.rawValue))
                varint(UInt64(step.start) << 1 | (step.change < 0 ? 0 : 1))
                if step.change >= 0 {
                    let change = delta.changes[step.change]
                    varint(UInt64(change.fields.rawValue))
                    fields(of: change)
                }
            }
        }
    }

    /// Writes the same bytes as the general code of `delta(_:)`, for a delta that inserts or deletes one item, as most
    /// deltas do.
    private mutating func insertionOrDeletion(_ edit: SingleEdit, _ item: PackedItem?) {
        let position = Int(item == nil ? edit.index : edit.gap)
        varint(position > 0 ? 2 : 1)
        if position > 0 { head(position, Code.keep) }
        if let item {
            head(1, Code.insert + UInt64(edit.side.rawValue))
            self.item(item)
        } else {
            head(1, Code.delete)
        }
    }

    private mutating func head(_ number: Int, _ code: UInt64) {
        varint(UInt64(number) << 3 | code)
    }

    /// Writes a commit, without the list that it belongs to.
    package mutating func commit(_ commit: Commit) {
        _ = body(of: commit)
    }

    /// Writes a commit, and returns the size in bytes of the delta at its end.
    mutating func body(of commit: Commit) -> Int {
        header(of: commit)
        if let refusal = commit.refusal {
            rejection(refusal)
            return 0
        }
        let start = count
        delta(commit.delta)
        return count - start
    }

    private mutating func header(of commit: Commit) {
        varints(
            UInt64(commit.revision), commit.author.rawValue, commit.sequence.rawValue,
            UInt64(commit.refusal == nil ? commit.revision - commit.base : 0), commit.time, UInt64(commit.count))
        word(commit.digest)
    }
}

extension WireReader {
    package mutating func delta() throws(WireError) -> Delta {
        let number = try count("number of components", limit: remaining)
        if let delta = insertionOrDeletion(number) { return delta }
        var builder = DeltaBuilder()
        for index in 0..<number { try component(index, &builder) }
        let delta: Delta
        do { delta = try builder.finishChecked() } catch { throw .malformedDelta(error) }
        guard builder.isFedNormalForm else { throw .notNormalForm }
        return delta
    }

    /// Reads a delta that inserts or deletes one item, as most deltas do. Returns nil for any other delta and for
    /// malformed bytes; in that case nothing is consumed.
    private mutating func insertionOrDeletion(_ components: Int) -> Delta? {
        guard components == 1 || components == 2 else { return nil }
        let start = position
        do throws(WireError) {
            var (place, head): (UInt64, UInt64) = (0, try varint("head of a component"))
            if components == 2, head & 7 == Code.keep, head >> 3 > 0, head >> 3 <= UInt64(Int32.max) {
                (place, head) = (head >> 3, try varint("head of a component"))
            } else if components == 2 {
                return back(to: start)
            }
            switch head {
            case 1 << 3 | Code.delete: return Delta(deletingAt: Int(place)) ?? back(to: start)
            case 1 << 3 | Code.insert, 1 << 3 | (Code.insert + 1):
                let side = head & 1 == 0 ? Side.after : .before
                return Delta(inserting: try packedItem(), at: Int(place), side) ?? back(to: start)
            default: return back(to: start)
            }
        } catch {
            return back(to: start)
        }
    }

    private mutating func back(to start: Int) -> Delta? {
        position = start
        return nil
    }

    private mutating func component(_ index: Int, _ builder: inout DeltaBuilder) throws(WireError) {
        let head = try varint("head of a component")
        let number = head >> 3
        guard number <= UInt64(Int32.max) else {
            throw .tooLarge(field: "count of a component", limit: Int(Int32.max), found: number)
        }
        let count = Int(number)
        switch head & 7 {
        case Code.keep: builder.keep(count)
        case Code.edit: builder.edit(try change(number))
        case Code.delete: builder.delete(count)
        case Code.pick: builder.pick(count)
        case Code.insert: try items(count, .after, &builder)
        case Code.insert + 1: try items(count, .before, &builder)
        case Code.drop: try drop(count, .after, index, &builder)
        default: try drop(count, .before, index, &builder)
        }
    }

    private mutating func items(_ count: Int, _ side: Side, _ builder: inout DeltaBuilder) throws(WireError) {
        // An item takes at least ten bytes, so it is safe to reserve memory for this many items.
        guard count <= remaining / 10 else { throw .truncated(field: "inserted items") }
        try builder.insert(count, side) { () throws(WireError) in try packedItem() }
    }

    private mutating func drop(
        _ count: Int, _ side: Side, _ index: Int, _ builder: inout DeltaBuilder
    ) throws(WireError) {
        let slot = try varint("first slot of a drop")
        guard slot >> 1 <= UInt64(Int32.max) else {
            throw .tooLarge(field: "first slot of a drop", limit: Int(Int32.max), found: slot >> 1)
        }
        let change = slot & 1 == 0 ? nil : try change(try varint("fields of a change"))
        if change != nil, count != 1 { throw .malformedDelta(.changedBlock(component: index)) }
        builder.drop(Int(slot >> 1), count, side, change)
    }

    package mutating func commit() throws(WireError) -> Commit {
        let header = try CommitHeader(&self)
        let refusal = header.isRefusal ? try rejection() : nil
        return Commit(
            revision: header.revision, author: header.author, sequence: header.sequence,
            base: max(0, header.revision - max(1, header.lag)), time: header.time, count: header.count,
            digest: header.digest,
            delta: refusal == nil ? try delta() : .identity, refusal: refusal)
    }
}
