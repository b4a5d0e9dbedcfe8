import EventLoop
import Testing

/// Both sides of connections on one loop, with real sockets in between.
final class Sides {
    let loop: Loop
    private var kept: [AnyObject] = []

    init() throws {
        loop = try Loop()
    }

    /// Listens for that many connections. `body` gets the server's side of each.
    func serve(
        _ context: TLSContext, connections: Int = 1, _ body: @escaping (TLSStream) -> Void
    ) throws -> SocketAddress {
        var (listener, left): (Listener?, Int) = (nil, connections)
        listener = try Listener.tcp(loop, address: SocketAddress(ip: "127.0.0.1", port: 0)) { [unowned self] stream in
            left -= 1
            if left == 0 { listener?.close() }
            open(stream, context, .server, body)
        }
        return try #require(listener?.localAddress)
    }

    /// `body` gets the client's side of a connection.
    func connect(to address: SocketAddress, _ context: TLSContext, _ body: @escaping (TLSStream) -> Void) {
        connect(to: address) { [unowned self] in open($0, context, .client(of: "127.0.0.1"), body) }
    }

    func connect(to address: SocketAddress, _ body: @escaping (TCP) -> Void) {
        TCP.connect(loop, to: address) { result in
            do { body(try result.get()) } catch { Issue.record(error) }
        }
    }

    private func open(_ stream: TCP, _ context: TLSContext, _ role: TLSStream.Role, _ body: (TLSStream) -> Void) {
        do {
            let channel = try TLSStream(loop, stream, context, role)
            keep(channel)
            body(channel)
        } catch {
            Issue.record(error)
            stream.close()
        }
    }

    func keep(_ object: AnyObject) { kept.append(object) }

    /// Runs until everything is closed.
    func run() {
        let alarm = EventLoop.Timer(loop)
        alarm.unreference()
        alarm.start(after: 60_000) { [unowned self] in
            Issue.record("something keeps the loop running")
            loop.stop()
        }
        loop.run()
        loop.close()
    }
}
