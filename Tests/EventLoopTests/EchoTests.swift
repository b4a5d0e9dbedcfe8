import EventLoop
import Testing

/// Ten megabytes there and back, through a client that does not read until the server had to wait.
@Suite(.timeLimit(.minutes(5))) struct EchoTests {
    @Test(arguments: ["127.0.0.1", "::1"])
    func everythingComesBackOverTCP(ip: String) throws {
        try withLoop { loop in
            let echo = Echo()
            var listener: Listener?
            listener = try Listener.tcp(loop, address: SocketAddress(ip: ip, port: 0)) { stream in
                #expect(stream.localAddress == listener?.localAddress)
                #expect(stream.peerAddress.ip == ip)
                listener?.close()
                listener = nil
                echo.serve(stream)
            }
            let address = try #require(listener?.localAddress)
            #expect(address.port != 0)
            let exchange = Exchange(loop, echo)
            TCP.connect(loop, to: address) { result in
                guard let stream = result.orRecord() else { return }
                #expect(stream.peerDescription == address.description)
                exchange.begin(stream)
            }
            loop.run()
            exchange.check()
        }
    }

    @Test func everythingComesBackOverAPipe() throws {
        try withFolder { folder in
            try withLoop { loop in
                let echo = Echo()
                var listener: Listener?
                listener = try Listener.pipe(loop, path: folder + "/socket") { stream in
                    #expect(stream.peerDescription == "unix:\(folder)/socket")
                    listener?.close()
                    listener = nil
                    echo.serve(stream)
                }
                #expect(listener?.localAddress == nil)
                let exchange = Exchange(loop, echo)
                Pipe.connect(loop, path: folder + "/socket") { result in
                    guard let stream = result.orRecord() else { return }
                    exchange.begin(stream)
                }
                loop.run()
                exchange.check()
            }
        }
    }
}

/// The client's side of an echo.
private final class Exchange {
    private let loop: Loop
    private let echo: Echo
    private let sent = pattern(10_000_000)
    private var received: [UInt8] = []
    private var end: ChannelEnd?
    private var hasClosed = false

    init(_ loop: Loop, _ echo: Echo) {
        self.loop = loop
        self.echo = echo
        received.reserveCapacity(sent.count)
    }

    func begin(_ stream: Stream) {
        // Many buffers, more than one system call accepts, some of them empty.
        var buffers: [OutputBuffer] = []
        for start in stride(from: 0, to: sent.count, by: 5000) {
            buffers += [OutputBuffer(sent[start..<min(start + 5000, sent.count)]), OutputBuffer([])]
        }
        #expect(stream.write(buffers) == .draining)
        #expect(stream.isWriting && stream.pendingBytes > 0)
        stream.shutdown { #expect($0 == nil) }
        #expect(stream.write([OutputBuffer([0])]) == .dropped)
        // Later one chunk per turn, so that the server has to wait again and again.
        let slow = Timer(loop)
        slow.start(after: 0, repeating: 1) { [unowned self, unowned stream] in
            if echo.hasWaited { read(stream, slow) }
        }
    }

    private func read(_ stream: Stream, _ slow: Timer) {
        stream.open { [self, unowned stream] bytes in
            received += bytes
            if received.count % 3 == 0 { stream.stopReading() }
        } onEnd: { [self, unowned stream] in
            end = $0
            slow.close()
            stream.close { [self] in hasClosed = true }
        }
    }

    func check() {
        #expect(received == sent)
        #expect(end == .eof)
        #expect(hasClosed)
        #expect(echo.hasDrained)
    }
}
