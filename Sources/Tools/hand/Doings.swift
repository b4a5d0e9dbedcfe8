import HandClient
import HandCore
import HandFormats
import Synchronization

/// What an edit does that its author should see: what it deletes, for nothing goes without a word, or all of it.
final class Doings: Sendable {
    private struct Contents {
        var lines: [String] = []
        var deleted: [Item] = []
    }

    private let contents = Mutex(Contents())

    /// More than that many lines are counted.
    private static let most = 20

    var deleted: [Item] { contents.withLock { $0.deleted } }

    /// `- 2  [x] milk`, as everything that shows changes has it.
    ///
    /// - Parameter heading: what stands above all that it does; without it only what it deletes is told.
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

    func tell(_ server: ServerOptions) {
        let lines = contents.withLock { $0.lines }
        for line in lines.prefix(Self.most) { server.say(line) }
        if lines.count > Self.most { server.say("and \(lines.count - Self.most) more") }
    }
}
