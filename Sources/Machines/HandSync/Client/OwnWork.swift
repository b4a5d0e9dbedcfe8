import HandCore
import HandWire

/// What the user's own commits did to the items of a list. It is used to report when somebody who had not seen those
/// commits overrides them.
struct OwnWork: Equatable, Sendable {
    /// One commit's work on one item.
    private struct ItemWork: Equatable, Sendable {
        var revision: Int
        var isMoved: Bool
        var fields: Change.Fields
        /// The values that the user set last.
        var values: Change
        /// The change that undoes the user's words, in the current texts. Words that somebody has overwritten are no
        /// longer in it.
        var inverse: Change
    }

    private var items: [ItemID: [ItemWork]] = [:]
    /// The approximate size of the words in `items`, in bytes.
    private var bytes = 0

    /// The maximum number of items. If there are more, only the half that was touched last stays.
    private static let maxItems = 2_000
    /// The maximum size of the words, in bytes. If there are more, only half of them stay.
    private static let maxBytes = 4 << 20
    /// The maximum number of separate commits for one item.
    private static let maxCommits = 16

    var isEmpty: Bool { items.isEmpty }
    var itemIDs: Set<ItemID> { Set(items.keys) }

    /// Records what the user's own commit, made on `list`, did to the items.
    mutating func record(_ commit: Commit, on list: Hand) {
        for (item, isMoved, change) in commit.delta.intentions(on: list).prefix(Self.maxItems / 2) {
            let inverse = change.invertedWords
            var all = follow(change, in: item.id)
            all.append(
                ItemWork(
                    revision: commit.revision, isMoved: isMoved, fields: change.fields, values: change.values,
                    inverse: inverse))
            if all.count > Self.maxCommits { all.replaceSubrange(0..<2, with: [Self.joined(all[0], all[1])]) }
            items[item.id] = all
            bytes += inverse.size
        }
        // An item may come back with another text. A delta that does not fit the list is found out later.
        if !items.isEmpty, commit.delta.reach <= list.count {
            for item in commit.delta.deletedItems(on: list) { items[item.id] = nil }
        }
        if items.count > Self.maxItems || bytes > Self.maxBytes { forget() }
    }

    /// Keeps the items that were touched last, up to half of either limit.
    private mutating func forget() {
        let newest = items.sorted { ($0.value.last?.revision ?? 0) > ($1.value.last?.revision ?? 0) }
        (items, bytes) = ([:], 0)
        for (item, all) in newest.prefix(Self.maxItems / 2) {
            bytes += all.reduce(0) { $0 + $1.inverse.size }
            // The item that was touched last stays, regardless of its size.
            if bytes > Self.maxBytes / 2, !items.isEmpty { break }
            items[item] = all
        }
    }

    /// Joins the work of two commits, with the revision of the later.
    private static func joined(_ first: ItemWork, _ second: ItemWork) -> ItemWork {
        ItemWork(
            revision: second.revision, isMoved: first.isMoved || second.isMoved,
            fields: first.fields.union(second.fields), values: first.values.followed(by: second.values),
            inverse: first.inverse.beside(second.inverse))
    }

    /// Returns the work on an item, adjusted to a change of its texts.
    private func follow(_ change: Change, in item: ItemID) -> [ItemWork] {
        (items[item] ?? []).map { work in
            var work = work
            work.inverse = work.inverse.carried(over: change)
            return work
        }
    }

    /// Returns notices of what a commit, made on `list`, overrides. The commit's `base` determines which of the user's
    /// commits its author had not seen.
    mutating func overridden(by commit: Commit, author: AuthorID?, on list: Hand) -> [Replica.Notice] {
        guard !items.isEmpty, commit.delta.reach <= list.count else { return [] }
        var notices: [Replica.Notice] = []
        let isOthers = commit.author != author
        let (revision, commitsAuthor) = (commit.revision, commit.author)
        func add(_ item: Item, _ losses: [Superseded.Loss], deletesItem: Bool = false) {
            guard isOthers else { return }
            for loss in losses {
                // Finding the item is O(n), and rare.
                let index = deletesItem || loss == .move ? list.index(of: item.id) : nil
                let behind = index.flatMap { $0 > 0 ? list[$0 - 1].id : nil }
                let override = Loss.Override(
                    author: commitsAuthor, revision: revision, deletesItem: deletesItem, behind: behind)
                notices.append(.superseded(item, loss, by: override))
            }
        }
        func unseen(_ item: Item) -> [ItemWork] { items[item.id]?.filter { commit.base < $0.revision } ?? [] }
        func wasMoved(_ work: [ItemWork]) -> [Superseded.Loss] { work.contains(where: \.isMoved) ? [.move] : [] }
        for item in commit.delta.deletedItems(on: list) {
            let unseen = unseen(item)
            let fields = unseen.reduce(into: Change.Fields()) { $0.formUnion($1.fields) }
            add(item, wasMoved(unseen) + (fields.isEmpty ? [] : [.edit(fields)]), deletesItem: true)
            items[item.id] = nil
        }
        for (item, isMoved, change) in commit.delta.intentions(on: list) where items[item.id] != nil {
            let unseen = unseen(item)
            let fields = unseen.reduce(Change()) { $0.followed(by: $1.values) }.valuesLost(to: change)
            add(item, (isMoved ? wasMoved(unseen) : []) + (fields.isEmpty ? [] : [.edit(fields)]))
            let after = (try? item.applying(change)) ?? item
            for work in unseen { add(after, work.inverse.wordsLost(to: change)) }
            items[item.id] = follow(change, in: item.id)
        }
        return notices
    }
}

// MARK: - Bytes

extension OwnWork {
    func write(to writer: inout WireWriter) {
        writer.varint(items.count)
        for (item, all) in items.sorted(by: { $0.key < $1.key }) {
            writer.word(item.rawValue)
            writer.varint(all.count)
            for work in all {
                writer.varint(work.revision)
                writer.flag(work.isMoved)
                writer.byte(work.fields.rawValue)
                writer.change(work.values)
                writer.change(work.inverse)
            }
        }
    }

    init(_ reader: inout WireReader) throws(WireError) {
        self.init()
        for _ in 0..<(try reader.count("items", limit: reader.remaining)) {
            let item = ItemID(rawValue: try reader.word("item id"))
            for _ in 0..<(try reader.count("commits of an item", limit: reader.remaining)) {
                let work = ItemWork(
                    revision: try reader.revision("revision"), isMoved: try reader.flag("moved"),
                    fields: Change.Fields(rawValue: try reader.byte("fields")), values: try reader.change(),
                    inverse: try reader.change())
                items[item, default: []].append(work)
                bytes += work.inverse.size
            }
        }
    }
}

extension Change {
    /// Returns the words that `later` replaces, of the words that this change undoes. Both changes are made on the same
    /// content.
    func wordsLost(to later: Change) -> [Superseded.Loss] {
        TextChange.losses(ofWhatTakesBack: text, to: later.text).map { .words($0, in: .text) }
            + TextChange.losses(ofWhatTakesBack: url, to: later.url).map { .words($0, in: .url) }
    }

    /// Returns what `other` leaves of this change, which undoes words.
    fileprivate func carried(over other: Change) -> Change {
        Change(text: text.remainder(after: other.text), url: url.remainder(after: other.url))
    }

    /// Joins two changes of the same content: `other`, then what `other` leaves of this change.
    fileprivate func beside(_ other: Change) -> Change {
        other.followed(by: carried(over: other))
    }
}
