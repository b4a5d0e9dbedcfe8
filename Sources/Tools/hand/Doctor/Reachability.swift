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
        switch try attempt(timeout, { Pipe.connect($0, path: path, $1) }) {
        case .success: .ok("connection", "\(path) accepts connections")
        case .failure(let error):
            .problem(
                "connection", "\(path): \(error)",
                do: "start a server there: hand serve --listen \(ShellWord.quoted(path))")
        }
    }

    private static func check(
        _ host: HandAddress.Host, _ server: HandAddress.Server, _ timeout: Double
    ) throws -> [Diagnosis] {
        let addresses: [SocketAddress]
        switch try attempt(timeout, { DNS.resolve($0, host: host.name, port: host.port, $1) }) {
        case .success(let found): addresses = found
        case .failure(let error):
            let advice = "correct the name, or check your network's DNS"
            return [.problem("connection", "\(host.name): \(error)", do: advice)]
        }
        return try addresses.map { address in
            guard case .failure(let error) = try attempt(timeout, { TCP.connect($0, to: address, $1) }) else {
                return .ok("connection", "\(address) accepts connections")
            }
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

    /// The outcome of the operation that `body` starts, `.timedOut` if it takes too long. A connection is closed.
    private static func attempt<Value>(
        _ timeout: Double, _ body: (Loop, @escaping (Result<Value, UVError>) -> Void) -> Cancellable
    ) throws -> Result<Value, UVError> {
        let loop = try Loop()
        var outcome = Result<Value, UVError>.failure(.timedOut)
        var isLate = false
        let alarm = Timer(loop)
        let started = body(loop) { result in
            if !isLate { outcome = result }
            if case .success(let stream as Stream) = result { stream.close() }
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
