import HandCore
import HandSync
import HandTestSupport
import HandWire

// What a client did, in the words of the tests of its lists.

extension DrivenClient {
    static func online() -> DrivenClient {
        var client = DrivenClient()
        client.connect()
        return client
    }

    mutating func insert(_ id: UInt64, isExact: Bool = false) {
        let item = Item(id: ItemID(rawValue: id), content: .note("n"))
        perform { try? $0.edit("a", Delta.inserting([item], at: 0, .after), isExact: isExact) }
    }

    var unsubscribed: [ListNumber] {
        said.compactMap { if case .unsubscribe(let list) = $0 { list } else { nil } }
    }

    /// The lists that are refused because edits of former lists wait under their names.
    var waiting: [String] {
        effects.compactMap { if case .list(let name, .editsWait) = $0 { name } else { nil } }
    }

    var refusals: [ErrorCode] {
        effects.compactMap { if case .list(_, .refused(let code, _)) = $0 { code } else { nil } }
    }

    /// The lists that were renamed, and the names under which they are kept.
    var names: [String] {
        effects.flatMap { effect -> [String] in
            switch effect {
            case .keep(let writes):
                writes.compactMap { write in
                    guard case .checkpoint(_, let name, let former?) = write else { return nil }
                    return "\(former) is kept as \(name)"
                }
            case .list(let list, .renamed(let name)): ["\(list) is \(name)"]
            default: []
            }
        }
    }

    /// The authors who were reported to have left, by list.
    var left: [String: [AuthorID]] {
        var left: [String: [AuthorID]] = [:]
        for case .list(let list, .presence(let entries)) in effects { left[list, default: []] += entries.map(\.author) }
        return left
    }
}
