import HandClient
import HandCore
import HandFormats
import HandSync
import HandWire
import Synchronization

/// The messages about an edit: the items that it deletes, or all its changes.
final class EditSummary: Sendable {
    private struct Contents {
        var lines: [Printable] = []
        var (deleted, inserted): ([Item], [Item]) = ([], [])
    }

    private let contents = Mutex(Contents())

    /// The largest number of lines to print. The rest are only counted.
    private static let maxLines = 20

    var deleted: [Item] { contents.withLock { $0.deleted } }
    var inserted: [Item] { contents.withLock { $0.inserted } }

    /// Records lines such as `- 2  [x] milk`.
    ///
    /// - Parameter heading: a line above all changes of the edit; without it, only deletions are recorded.
    func note(_ delta: Delta, on part: PartialList, under heading: Printable? = nil) throws {
        let list = try part.hand(for: delta)
        let new: Hand
        do { new = try list.applying(delta) } catch { throw Self.failure(error, on: list) }
        let lines = DeltaText.lines(delta, from: list, to: new)
        let deleted = delta.deletedItems(on: list)
        contents.withLock {
            $0.lines = heading.map { [$0] + lines } ?? lines.filter { $0.text.hasPrefix("-") }
            ($0.deleted, $0.inserted) = (deleted, delta.insertedItems)
        }
    }

    /// Names the item that an edit does not fit, and its kind.
    private static func failure(_ misfit: Delta.Misfit, on list: Hand) -> any Error {
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

    /// Prints the lines.
    func tell(_ server: ServerOptions) {
        let lines = contents.withLock { $0.lines }
        for line in lines.prefix(Self.maxLines) { server.say(line) }
        if lines.count > Self.maxLines { server.say("and \(lines.count - Self.maxLines) more") }
    }
}
