import HandCore

/// Some connections, in an order that depends only on the order of adding and removing. Both are O(1).
struct ConnectionSet: Sequence {
    private var members: [Connection] = []
    private var positions: [NumberKey: Int] = [:]

    var count: Int { members.count }
    var isEmpty: Bool { members.isEmpty }

    /// The connection of that number.
    subscript(number: UInt64) -> Connection? { positions[number].map { members[$0] } }

    func contains(_ connection: Connection) -> Bool { positions[connection.number] != nil }

    mutating func add(_ connection: Connection) {
        guard !contains(connection) else { return }
        positions[connection.number] = members.count
        members.append(connection)
    }

    /// Removes a connection; the last one takes its place. Returns whether it was there.
    @discardableResult
    mutating func remove(_ connection: Connection) -> Bool {
        guard let position = positions.removeValue(forKey: NumberKey(connection.number)) else { return false }
        let last = members.removeLast()
        if last !== connection {
            members[position] = last
            positions[last.number] = position
        }
        return true
    }

    func makeIterator() -> IndexingIterator<[Connection]> { members.makeIterator() }
}
