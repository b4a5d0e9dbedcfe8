import HandClient
import HandCore
import HandFormats
import HandSync
import Synchronization

/// The messages about an edit: the items that it deletes, or all its changes.
final class Doings: Sendable {
    private struct Contents {
        var lines: [String] = []
        var deleted: [Item] = []
    }

    private let contents = Mutex(Contents())

    /// The largest number of lines to print. The rest are only counted.
    private static let most = 20

    var deleted: [Item] { contents.withLock { $0.deleted } }

    /// Records lines such as `- 2  [x] milk`.
    ///
    /// - Parameter heading: a line above all changes of the edit; without it, only deletions are recorded.
    func note(_ delta: Delta, on list: Hand, under heading: String? = nil) throws {
        let new: Hand
        do { new = try list.applying(delta) } catch { throw ClientError.notMade(.misfit(error)) }
        let lines = DeltaText.lines(delta, from: list, to: new)
        let deleted = delta.deletedItems(on: list)
        contents.withLock {
            $0.lines = heading.map { [$0] + lines } ?? lines.filter { $0.hasPrefix("-") }
            $0.deleted = deleted
        }
    }

    /// Prints the lines.
    func tell(_ server: ServerOptions) {
        let lines = contents.withLock { $0.lines }
        for line in lines.prefix(Self.most) { server.say(line) }
        if lines.count > Self.most { server.say("and \(lines.count - Self.most) more") }
    }
}
