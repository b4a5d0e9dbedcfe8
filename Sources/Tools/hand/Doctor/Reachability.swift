import EventLoop
import HandFormats

/// Tries all addresses of a server's hosts, one by one.
enum Reachability {
    /// - Parameter timeout: how many seconds to wait for each address.
    static func check(_ server: HandAddress.Server, timeout: Double) throws -> [Diagnosis] {
        if case .unix(let path) = server { return [try unix(path, timeout)] }
        return try server.hosts.flatMap { try check($0, server, timeout) }
    }

    private static func unix(_ path: String, _ timeout: Double) throws -> Diagnosis {
        let error = try attempt(timeout) { loop, done in
            Pipe.connect(loop, path: path) { result in
                if case .success(let pipe) = result { pipe.close() }
                done(result.failure)
            }
        }
        guard let error else { return .ok("connection", "\(path) accepts connections") }
        return .problem(
            "connection", "\(path): \(error)",
            do: "start a server there: hand serve --listen \(ShellWord.quoted(path))")
    }

    private static func check(
        _ host: HandAddress.Host, _ server: HandAddress.Server, _ timeout: Double
    ) throws -> [Diagnosis] {
        var addresses: [SocketAddress] = []
        let error = try attempt(timeout) { loop, done in
            DNS.resolve(loop, host: host.name, port: host.port) { result in
                if case .success(let found) = result { addresses = found }
                done(result.failure)
            }
        }
        if let error {
            return [
                .problem(
                    "connection", "\(host.name): \(error)", do: "correct the name, or check your network's DNS")
            ]
        }
        return try addresses.map { address in
            let error = try attempt(timeout) { loop, done in
                TCP.connect(loop, to: address) { result in
                    if case .success(let stream) = result { stream.close() }
                    done(result.failure)
                }
            }
            guard let error else { return .ok("connection", "\(address) accepts connections") }
            let way =
                server.isThisMachine
                ? "start a server: hand serve --listen \(ShellWord.quoted("\(host)"))"
                : "check the port, whether the server listens there, and whether a firewall blocks it"
            // If there are several addresses, one is enough.
            let isOne = addresses.count + server.hosts.count == 2
            return isOne
                ? .problem("connection", "\(address): \(error)", do: way)
                : .warning("connection", "\(address): \(error)", do: way)
        }
    }

    /// The error of the operation that `body` starts, `.timedOut` if it takes too long, or nil if it succeeds.
    private static func attempt(
        _ timeout: Double, _ body: (Loop, @escaping (UVError?) -> Void) -> Cancellable
    ) throws -> UVError? {
        let loop = try Loop()
        var outcome: UVError?
        var isLate = false
        let alarm = Timer(loop)
        let started = body(loop) { error in
            outcome = isLate ? .timedOut : error
            alarm.close()
        }
        alarm.start(after: UInt64(timeout * 1_000)) {
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
