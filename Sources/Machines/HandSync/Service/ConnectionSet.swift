/// The connections of a server. Each has a place, which is used again when the connection has gone. So a connection is
/// found by its id without hashing, and an idle one takes little memory.
///
/// The order depends only on the order of adding and removing. All but the iteration is O(1).
package struct ConnectionSet: Sequence {
    /// The bits of an id that are the place; the others are the number.
    static let placeBits = 24

    private var places: [Connection?] = []
    /// The places that are used again, the next one last.
    private var free: [Int] = []
    private var lastNumber: UInt64 = 0

    package init() {}

    package var count: Int { places.count - free.count }
    package var isEmpty: Bool { count == 0 }

    /// The connection of that id; nil if it has gone.
    package subscript(id: UInt64) -> Connection? {
        let place = Int(id & (1 << Self.placeBits - 1))
        guard place < places.count, let connection = places[place], connection.id == id else { return nil }
        return connection
    }

    package func contains(_ connection: Connection) -> Bool { self[connection.id] === connection }

    /// Adds the connection that `make` makes with the id it is given.
    package mutating func add(_ make: (UInt64) -> Connection) -> Connection {
        lastNumber += 1
        let place = free.popLast() ?? places.count
        let connection = make(lastNumber << Self.placeBits | UInt64(place))
        if place == places.count { places.append(connection) } else { places[place] = connection }
        return connection
    }

    /// Removes a connection. Returns whether it was there.
    @discardableResult
    package mutating func remove(_ connection: Connection) -> Bool {
        guard contains(connection) else { return false }
        let place = Int(connection.id & (1 << Self.placeBits - 1))
        places[place] = nil
        free.append(place)
        if isEmpty { (places, free) = ([], []) }
        return true
    }

    package func makeIterator() -> some IteratorProtocol<Connection> { places.lazy.compactMap(\.self).makeIterator() }
}
