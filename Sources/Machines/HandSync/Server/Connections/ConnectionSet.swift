/// Identifies a connection of a server. No later connection has the same id.
public struct ConnectionID: Hashable, Sendable {
    public let rawValue: UInt64

    /// The bits that are the connection's place in a `ConnectionSet`; the others count the connections.
    static let placeBits = 24

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    fileprivate init(number: UInt64, place: Int) { rawValue = number << Self.placeBits | UInt64(place) }

    fileprivate var place: Int { Int(rawValue & (1 << Self.placeBits - 1)) }
}

/// The connections of a server. Each has a place, which is used again when the connection has gone. So a connection is
/// found by its id without hashing, and an idle one takes little memory.
///
/// The order of iteration depends only on the order of adding and removing. All operations but the iteration are O(1).
package struct ConnectionSet: Sequence {
    private var places: [Connection?] = []
    /// The places that are used again, the next one last.
    private var free: [Int] = []
    private var lastNumber: UInt64 = 0

    package init() {}

    package var count: Int { places.count - free.count }
    package var isEmpty: Bool { count == 0 }

    /// The connection of that id; nil if it has gone.
    package subscript(id: ConnectionID) -> Connection? {
        guard id.place < places.count, let connection = places[id.place], connection.id == id else { return nil }
        return connection
    }

    package func contains(_ connection: Connection) -> Bool { self[connection.id] === connection }

    /// Adds the connection that `make` makes with its new id.
    package mutating func add(_ make: (ConnectionID) -> Connection) -> Connection {
        lastNumber += 1
        let place = free.popLast() ?? places.count
        let connection = make(ConnectionID(number: lastNumber, place: place))
        if place == places.count { places.append(connection) } else { places[place] = connection }
        return connection
    }

    /// Removes a connection. Returns whether it was there.
    @discardableResult
    package mutating func remove(_ connection: Connection) -> Bool {
        guard contains(connection) else { return false }
        places[connection.id.place] = nil
        free.append(connection.id.place)
        if isEmpty { (places, free) = ([], []) }
        return true
    }

    package func makeIterator() -> some IteratorProtocol<Connection> { places.lazy.compactMap(\.self).makeIterator() }
}
