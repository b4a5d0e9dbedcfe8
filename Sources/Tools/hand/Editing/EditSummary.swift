import HandClient
import HandCore
import HandFormats
import HandSync
import HandWire
import Synchronization

/// What an edit changes, for people and for scripts.
final class EditSummary: Sendable {
    private struct Edit {
        var delta: Delta
        /// What is known of the list before the edit.
        var list: PartialList
        var new: Hand
    }

    private let edit = Mutex<Edit?>(nil)
    /// A line above all changes.
    private let heading: Printable?

    /// The largest number of lines to print. The rest are only counted.
    private static let maxLines = 20

    init(under heading: Printable? = nil) { self.heading = heading }

    /// Records an edit that is about to be made.
    ///
    /// - Throws: if the list has no such items, or an item does not have such a field.
    func note(_ delta: Delta, on list: PartialList) throws {
        let old = try list.hand(for: delta)
        do { try edit.withLock { $0 = Edit(delta: delta, list: list, new: try old.applying(delta)) } } catch {
            throw Self.failure(error, on: old)
        }
    }

    /// Records where the server made the edit, which may be after commits of others.
    ///
    /// - Parameter commits: the commits since the list, with the edit's own one last; empty if some are missing. Then
    ///   the numbers of items are those where the edit was made.
    func follow(_ commits: [Commit]) {
        edit.withLock { edit in
            guard let own = commits.last, var list = try? edit?.list.following(commits.dropLast()) else { return }
            let before = list
            guard let (delta, old) = try? list.follow(own.delta), let new = try? old.applying(delta) else { return }
            edit = Edit(delta: delta, list: before, new: new)
        }
    }

    /// Names the item that an edit does not fit, and its kind.
    private static func failure(_ error: any Error, on list: Hand) -> any Error {
        guard let misfit = error as? Delta.Misfit else { return error }
        guard case .change(.fieldsDoNotExist(let fields, let kind), let index) = misfit else {
            return ClientError.notMade(.misfit(misfit))
        }
        let reason =
            switch fields {
            case _ where fields.contains(.url): "only a link has an address"
            case _ where fields.contains(.done): "only a task has a box to tick"
            default: "its text cannot be changed"
            }
        return Failure(.rejected, "'\(list[index].content.text)' is a \(kind.name); \(reason)")
    }

    /// `"changes"` as in a commit; empty if nothing was edited.
    var json: JSONValue {
        edit.withLock { edit in
            guard let edit, let old = try? edit.list.hand(for: edit.delta) else { return .array([]) }
            return JSON.changes(edit.delta, from: old, to: edit.new)
        }
    }

    /// Prints a line for each change, such as `- 2  [x] milk`. Without a heading, an edit that only adds items prints
    /// none, because whoever typed them knows them.
    func tell(_ server: ServerOptions) {
        let lines = edit.withLock { edit -> [Printable] in
            guard let edit, let old = try? edit.list.hand(for: edit.delta) else { return [] }
            return DeltaText.lines(edit.delta, from: old, to: edit.new)
        }
        let isAdding = lines.allSatisfy { $0.text.hasPrefix(Delta.Mark.inserted.rawValue) }
        if lines.isEmpty || heading == nil && isAdding { return }
        let all = (heading.map { [$0] } ?? []) + lines
        for line in all.prefix(Self.maxLines) { server.say(line) }
        if all.count > Self.maxLines { server.say("and \(all.count - Self.maxLines) more") }
    }
}
