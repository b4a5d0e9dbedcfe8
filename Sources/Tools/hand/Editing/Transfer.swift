import HandClient
import HandCore
import HandFormats
import HandWire
import Synchronization

/// Copies items to a place in a list. A move deletes the originals, once the list has committed the copies: whatever is
/// refused, no item is lost, and none is in both lists without a message. A moved item keeps its id, so that a move
/// that was stopped between its two edits can be repeated: what the list has already, it does not get twice.
struct Transfer {
    private let source: EditOptions
    private let target: EditOptions
    private let references: [ItemReference]
    private let place: Place
    private let isAlone: Bool
    private let isMove: Bool

    init(_ chosen: ItemsOptions, to list: String, at place: Place, isAlone: Bool, isMove: Bool) throws {
        source = chosen.options
        references = try ItemReference.all(chosen.items)
        (self.place, self.isAlone, self.isMove) = (place, isAlone, isMove)
        var other = source
        (other.list.list, other.ifRevision) = (list, nil)
        target = other
        if source.queue {
            throw Failure(
                .usage,
                isMove
                    ? "--queue: the other list must have the items before this one gives them up"
                    : "--queue: the copies are of the items as the server has them. Try again when it answers")
        }
        if isMove, try source.list.name() == target.list.name() {
            throw Failure(.usage, "the items are in '\(list)' already: to move them there, leave out --to")
        }
    }

    func run() async throws {
        let (from, to) = (try source.list.name(), try target.list.name())
        let branches = try await read()
        let added = EditSummary(under: from == to ? nil : "into '\(to)':")
        let deleted = EditSummary(under: "from '\(from)':")
        let outcome: Settlement?
        do {
            outcome = try await insert(branches, in: added)
            if let rejection = outcome?.rejections.first { throw ClientError.rejected(rejection) }
        } catch {
            let failure = Failure(error)
            guard failure.isOurs else { throw error }
            if failure.status == .unknown {
                guard isMove else { throw error }
                throw Failure(
                    .unknown,
                    "\(failure.message). The items are in '\(from)' in any case. Move them again: what '\(to)' has already, it "
                        + "does not get twice")
            }
            let stay = isMove ? ", which stay in '\(from)'" : ""
            throw Failure(failure.status, "'\(to)' did not take the items\(stay): \(failure.message)")
        }
        if !isMove {
            let place = [JSONValue.Member("list", .string(to))]
            guard let outcome else { return target.report(revision: nil, EditSummary(), place) }
            return try target.report(outcome, added, place)
        }
        if let outcome {
            target.list.server.tell(outcome)
            added.follow(outcome.commits)
        }
        let told = JSONValue.Member(
            "to",
            JSONValue(fields: ["list": to, "revision": JSONValue(orNull: outcome?.revision), "changes": added.json]))
        if !source.list.server.json { added.tell(source.list.server) }
        let changed = Stayed()
        do {
            let outcome = try await delete(branches, in: deleted, keeping: changed)
            if let outcome {
                try source.report(outcome, deleted, [told])
            } else {
                source.report(revision: nil, deleted, [told])
            }
        } catch {
            let failure = Failure(error)
            guard failure.isOurs else { throw error }
            source.list.server.tell(
                .object([.init("revision", .null), told]),
                outcome?.revision.map { "revision \($0) of '\(to)'" } ?? "nothing to do in '\(to)'")
            if failure.status == .unknown {
                throw Failure(
                    .unknown,
                    "the items are in '\(to)', and perhaps still in '\(from)': \(failure.message). Look, and delete them there if "
                        + "they are: \(Suggestion.command("ls -l", from))")
            }
            let undo = Suggestion.command("undo -l", to)
            throw Failure(
                failure.status,
                "the items are in '\(to)', and still in '\(from)', which did not give them up: \(failure.message). To take back "
                    + "the copies: \(undo)")
        }
        let stayed = changed.count.withLock { $0 }
        if stayed == 0 { return }
        Output.message(
            "\(Amount.count(stayed, "item")) stayed in '\(from)': changed while it was moved. '\(to)' has what it was before"
        )
        Output.exit(.conflict)
    }

    /// The items of the named branches, in the order given, each once. The levels are relative to the named items.
    private func read() async throws -> [Item] {
        let (name, server) = (try source.list.name(), source.list.server)
        return try await EditOptions.withBranches(of: references) { part, find in
            try await server.withClient(list: name) { client, _ in
                let list = PartialList(try await client.excerpt(of: name, part))
                try await EditOptions.check(list, is: source.ifRevision, name, client)
                if isMove, let role = try await client.granted()?.role(on: name), role < .write {
                    throw Failure(
                        .notAllowed, "your role on '\(name)' is \(role); moving needs write: 'hand cp' copies the items"
                    )
                }
                var (seen, items): (Set<Int>, [Item]) = ([], [])
                for root in try find(list) {
                    let level = try list.shownLevel(at: root)
                    for place in try isAlone ? root..<root + 1 : root..<list.subitems(of: root).upperBound
                    where seen.insert(place).inserted {
                        var item = try list.item(at: place)
                        item.level = UInt8(try list.shownLevel(at: place) - level)
                        items.append(item)
                    }
                }
                return items
            }
        }
    }

    /// Inserts the items. Returns nil if the list has them already.
    private func insert(_ originals: [Item], in summary: EditSummary) async throws -> Settlement? {
        var random = SystemRandomNumberGenerator()
        let copies = originals.map { Item(id: .random(using: &random), level: $0.level, content: $0.content) }
        let moved = isMove ? originals.map { ItemReference.prefix("\($0.id)") } : []
        return try await EditOptions.withBranches(of: place.neighbours) { [place] part, find in
            let part = part + ItemReference.selections(of: moved)
            let delta = target.noting(
                { list in
                    _ = try find(list)
                    let (gap, side, level) = try place.spot(in: list)
                    var items = moved.isEmpty ? copies : try Self.missing(originals, or: copies, in: list)
                    for index in items.indices {
                        // A list whose rules do not allow these levels refuses the items: what belongs to what stays.
                        items[index].level = UInt8(min(Int(items[index].level) + level, Int(Item.maxLevel)))
                    }
                    return .inserting(items, at: gap, side)
                }, in: summary)
            return try await target.commit(knowing: .items(part), delta)
        }
    }

    /// The branches that a list does not have as they are. Of such a branch, copies take the place of the items whose
    /// ids the list has: the branch stays whole.
    private static func missing(_ originals: [Item], or copies: [Item], in list: PartialList) throws -> [Item] {
        let places = originals.map { list.positions(of: $0.id...$0.id).first }
        let roots = originals.indices.filter { originals[$0].level == 0 }
        let ends = roots.dropFirst() + [originals.endIndex]
        return try zip(roots, ends).flatMap { root, end in
            let isThere = try (root..<end).allSatisfy { index in
                try places[index].map { try list.item(at: $0).content == originals[index].content } ?? false
            }
            return isThere ? [] : (root..<end).map { places[$0] == nil ? originals[$0] : copies[$0] }
        }
    }

    /// How many items were not deleted.
    private final class Stayed: Sendable {
        let count = Mutex(0)
    }

    /// Deletes the originals that are as they were copied: what somebody has changed since exists only there.
    private func delete(
        _ originals: [Item], in summary: EditSummary, keeping changed: Stayed
    ) async throws -> Settlement? {
        var originals = originals
        while true {
            do {
                let references = originals.map { ItemReference.prefix("\($0.id)") }
                return try await EditOptions.withBranches(of: references) { [source, originals] part, find in
                    let delta = source.noting(
                        { list in
                            let same = try zip(find(list), originals).filter { place, original in
                                try list.item(at: place).content == original.content
                            }
                            changed.count.withLock { $0 = originals.count - same.count }
                            return try list.deleting(same.map(\.0).sorted())
                        }, in: summary)
                    return try await source.commit(knowing: .items(part), delta)
                }
            } catch ItemReference.Problem.unknown {
                // Somebody has deleted some of them meanwhile.
                let there = try await present(originals)
                originals.removeAll { !there.contains($0.id) }
            }
        }
    }

    /// The items among these that the list still has.
    private func present(_ items: [Item]) async throws -> Set<ItemID> {
        let name = try source.list.name()
        let excerpt = try await source.list.server.withClient(list: name) { client, _ in
            try await client.excerpt(of: name, items.map { .ids($0.id...$0.id) })
        }
        return Set(excerpt.entries.map(\.item.id))
    }
}
