import EventLoop
import Foundation
import HandTestSupport

extension Row {
    static let encryption = [
        Row(name: "1,000 writing, TLS beside none: commits/s", goal: .ratioAtLeast(0.5)) { bench in
            let kind = try secure()
            return try bench.compare {
                try bench.withServer(.hand(durability: "memory")) {
                    try bench.load("burst", on: $0, clients: 1_000, "--light").commitsPerSecond
                }
            } _: {
                try bench.withServer(kind) {
                    try bench.load("burst", on: $0, clients: 1_000, "--light").commitsPerSecond
                }
            }
        },
        Row(name: "1,000 writing, WebSockets beside none: commits/s", goal: .ratioAtLeast(0.85)) { bench in
            try bench.compare {
                try bench.withServer(.hand(durability: "memory")) {
                    try bench.load("burst", on: $0, clients: 1_000, "--light").commitsPerSecond
                }
            } _: {
                try bench.withServer(.web) {
                    try bench.load("burst", on: $0, clients: 1_000, "--light", "--web").commitsPerSecond
                }
            }
        },
        Row(name: "TLS handshakes/s of one core, 50 at a time", goal: .atLeast(500)) { bench in
            guard case .secure(let certificates, let own) = try secure() else { throw Problem("no certificates") }
            return try bench.withServer(.secure(certificates, own: own)) { server in
                Outcome(
                    ours: try (0..<bench.pairs).map { _ in
                        try Handshakes(server.port, certificates.authority).perSecond(for: bench.seconds)
                    }.median)
            }
        },
    ]

    private static func secure() throws -> Bench.Kind {
        let certificates = try Certificates(try TemporaryFolder())
        return .secure(certificates, own: try certificates.make("server", for: "IP:127.0.0.1"))
    }
}

/// Connects, completes a TLS handshake, and disconnects, again and again.
private final class Handshakes {
    private static let atATime = 50
    private let loop: Loop
    private let context: TLSContext
    private let address: SocketAddress
    private var count = 0
    private var isOver = false

    init(_ port: Int, _ authority: String) throws {
        loop = try Loop()
        context = try .client(authorities: authority)
        address = try SocketAddress(ip: "127.0.0.1", port: UInt16(port))
    }

    func perSecond(for seconds: Int) throws -> Double {
        let timer = EventLoop.Timer(loop)
        timer.start(after: UInt64(seconds) * 1_000) { [unowned self] in isOver = true }
        for _ in 0..<Self.atATime { next() }
        loop.run()
        loop.close()
        return Double(count) / Double(seconds)
    }

    private func next() {
        guard !isOver else { return }
        TCP.connect(loop, to: address) { [self] result in
            guard case .success(let stream) = result,
                let channel = try? TLSStream(loop, stream, context, .client(of: "127.0.0.1"))
            else { return next() }
            // The server answers a byte that is not a hello with an error. It arrives when the handshake is complete on
            // both sides.
            channel.open { [self] _ in
                count += 1
                channel.close()
                next()
            } onEnd: { [self] _ in
                channel.close()
                next()
            }
            channel.write([OutputBuffer([1, 0])])
        }
    }
}
