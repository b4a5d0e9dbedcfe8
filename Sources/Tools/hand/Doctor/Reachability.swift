import EventLoop
import HandClient
import HandFormats

/// Tries all addresses that a server's hosts have, one by one.
enum Reachability {
    /// - Parameter patience: seconds for each address.
    static func check(_ server: HandAddress.Server, patience: Double) throws -> [Diagnosis] {
        if case .unix(let path) = server { return [try unix(path, patience)] }
        return try server.hosts.flatMap { try check($0, server, patience) }
    }

    private static func unix(_ path: String, _ patience: Double) throws -> Diagnosis {
        let error = try attempt(patience) { loop, done in
            Pipe.connect(loop, path: path) { result in
                if case .success(let pipe) = result { pipe.close() }
                done(result.failure)
            }
        }
        guard let error else { return .ok("connection", "\(path) takes connections") }
        return .problem("connection", "\(path): \(error)", do: "start a server there: hand serve --listen \(path)")
    }

    private static func check(
        _ host: HandAddress.Host, _ server: HandAddress.Server, _ patience: Double
    ) throws -> [Diagnosis] {
        var addresses: [SocketAddress] = []
        let error = try attempt(patience) { loop, done in
            DNS.resolve(loop, host: host.name, port: host.port) { result in
                if case .success(let found) = result { addresses = found }
                done(result.failure)
            }
        }
        if let error {
            return [
                .problem(
                    "connection", "\(host.name): \(error)", do: "correct the name, or ask your network's resolver why")
            ]
        }
        return try addresses.map { address in
            let error = try attempt(patience) { loop, done in
                TCP.connect(loop, to: address) { result in
                    if case .success(let stream) = result { stream.close() }
                    done(result.failure)
                }
            }
            guard let error else { return .ok("connection", "\(address) takes connections") }
            let way =
                server.isThisMachine
                ? "start a server: hand serve --listen \(host)"
                : "is the port right, does the server listen there, does a firewall let it through?"
            // One way is enough.
            let isOne = addresses.count + server.hosts.count == 2
            return isOne
                ? .problem("connection", "\(address): \(error)", do: way)
                : .warning("connection", "\(address): \(error)", do: way)
        }
    }

    /// The error of what `body` starts, `.timedOut` if it takes too long; nil if it succeeded.
    private static func attempt(
        _ patience: Double, _ body: (Loop, @escaping (UVError?) -> Void) -> Cancellable
    ) throws -> UVError? {
        let loop = try Loop()
        var outcome: UVError?
        var isLate = false
        let alarm = Timer(loop)
        let started = body(loop) { error in
            outcome = isLate ? .timedOut : error
            alarm.close()
        }
        alarm.start(after: UInt64(patience * 1_000)) {
            isLate = true
            started.cancel()
        }
        loop.run()
        loop.close()
        return outcome
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
