import HTTP

/// The requests of browsers that have not become WebSockets. They count among the connections, in all and of one
/// address, until the machine counts them.
struct WebRequests {
    private var open: [ObjectIdentifier: (request: HTTPConnection, address: String?)] = [:]
    private var counts: [String: Int] = [:]

    var count: Int { open.count }
    var all: [HTTPConnection] { open.values.map(\.request) }

    /// The number of requests from an address.
    func count(from address: String) -> Int { counts[address] ?? 0 }

    mutating func add(_ request: HTTPConnection, from address: String?) {
        open[ObjectIdentifier(request)] = (request, address)
        if let address { counts[address, default: 0] += 1 }
    }

    mutating func remove(_ request: ObjectIdentifier) {
        guard let address = open.removeValue(forKey: request)?.address else { return }
        let left = count(from: address) - 1
        counts[address] = left == 0 ? nil : left
    }
}
