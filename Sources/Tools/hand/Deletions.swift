import HandCore
import HandFormats
import Synchronization

/// What an edit deletes, for its author to see: nothing goes without a word.
final class Deletions: Sendable {
    private let gone = Mutex<[(number: Int, item: Item)]>([])

    /// More than that many are counted.
    private static let most = 20

    var items: [Item] { gone.withLock { $0.map(\.item) } }

    func note(_ delta: Delta, from list: Hand) {
        var index = 0
        var deleted: [(number: Int, item: Item)] = []
        for component in delta.components {
            switch component {
            case .delete(let count):
                for index in index..<index + count { deleted.append((index + 1, list[index])) }
                index += count
            case .keep(let count), .pick(let count): index += count
            case .edit: index += 1
            case .insert, .drop: break
            }
        }
        gone.withLock { $0 = deleted }
    }

    /// `- 2  [x] milk`, as everything that shows changes has it.
    func tell(_ server: ServerOptions) {
        let deleted = gone.withLock { $0 }
        for (number, item) in deleted.prefix(Self.most) {
            server.say("- \(number)  \(Printable.line(of: item.content))")
        }
        if deleted.count > Self.most { server.say("- and \(deleted.count - Self.most) more") }
    }
}
