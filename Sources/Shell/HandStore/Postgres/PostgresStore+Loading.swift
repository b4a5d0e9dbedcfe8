import HandCore
import HandSync
import HandWire

extension PostgresStore {
    package func load(_ list: ListNumber) throws -> Authority.Start {
        try read { session in
            let row = try PostgresListRow.get(list, session)
            let start = try session.start(of: row.list, deck: row.firstDeck)
            guard start.hand.digest == row.digest, start.hand.count == row.list.count else {
                throw StoreError.damaged("list \(list) at revision \(start.revision) does not match its commits")
            }
            let later = "SELECT 1 FROM commits WHERE list = $1 AND last > $2 LIMIT 1"
            guard try session.run(later, .init(list), .init(start.revision)).isEmpty else {
                throw StoreError.damaged(
                    "list \(list) should be at revision \(start.revision), but its commits continue")
            }
            return start
        }
    }

    package func state(of list: ListNumber, at revision: Int) throws -> Hand {
        try read { try $0.state(of: PostgresListRow.get(list, $0).list, at: revision) }
    }

    package func frames(of list: ListNumber, after revision: Int, about bytes: Int) throws -> [StoredFrame] {
        try read { session in
            guard let row = try PostgresListRow.find(list, session) else { return [] }
            return try session.frames(of: row.list, after: revision, through: .max, about: bytes)
        }
    }
}
