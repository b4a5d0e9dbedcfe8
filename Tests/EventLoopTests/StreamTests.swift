import EventLoop
import Testing

@Suite(.timeLimit(.minutes(5))) struct StreamTests {
    @Test func aWriteDuringAWriteComesAfterIt() throws {
        try withLoop { loop in
            var received: [UInt8] = []
            let first = pattern(20_000_000)
            let second = Array(first.reversed())
            var drains = 0
            try withPair(loop) { client, server in
                #expect(server.write([OutputBuffer(first)]) == .draining)
                #expect(server.writeNow(UnsafeRawBufferPointer(start: nil, count: 0)) == 0)
                #expect(server.write([OutputBuffer(second), OutputBuffer([3])]) == .draining)
                #expect(server.write([OutputBuffer([4])]) == .draining)
                server.open { _ in
                } onDrain: { [unowned server] in
                    drains += 1
                    #expect(!server.isWriting && server.pendingBytes == 0)
                    #expect(server.write([OutputBuffer([5])]) == .written)
                    server.close()
                } onEnd: { _ in
                }
                client.open { [weak server] in
                    received += $0
                    // The system has room again, but this is not its turn.
                    if let server, server.isWriting {
                        #expect([UInt8]([7]).withUnsafeBytes { server.writeNow($0) } == 0)
                    }
                } onEnd: { [unowned client] end in
                    #expect(end == .eof)
                    client.close()
                }
            }
            loop.run()
            #expect(drains == 1)
            #expect(received == first + second + [3, 4, 5])
        }
    }

    /// Bytes that were written during an earlier write are sent before the end of the direction.
    @Test func theEndComesAfterAllPendingWrites() throws {
        try withLoop { loop in
            var received: [UInt8] = []
            let first = pattern(20_000_000)
            try withPair(loop) { client, server in
                #expect(server.write([OutputBuffer(first)]) == .draining)
                #expect(server.write([OutputBuffer([1, 2, 3])]) == .draining)
                server.shutdown { [unowned server] _ in server.close() }
                client.open {
                    received += $0
                } onEnd: { [unowned client] _ in
                    client.close()
                }
            }
            loop.run()
            #expect(received.count == first.count + 3 && received.suffix(3) == [1, 2, 3])
        }
    }

    @Test func ownersLiveUntilTheirBytesAreWritten() throws {
        final class Owner {
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 20_000_000, alignment: 1)
            init() { memory.initializeMemory(as: UInt8.self, repeating: 7) }
            deinit { memory.deallocate() }
        }
        try withLoop { loop in
            weak var owner: Owner?
            var count = 0
            try withPair(loop) { client, server in
                do {
                    let made = Owner()
                    owner = made
                    let half = UnsafeRawBufferPointer(made.memory)[..<10_000_000]
                    let buffer = OutputBuffer(bytes: UnsafeRawBufferPointer(rebasing: half), owner: made)
                    #expect(server.write([buffer, buffer]) == .draining)
                }
                #expect(owner != nil)
                server.open { _ in
                } onDrain: { [unowned server] in
                    #expect(owner == nil)
                    server.close()
                } onEnd: { _ in
                }
                client.open { bytes in
                    #expect(bytes.allSatisfy { $0 == 7 })
                    count += bytes.count
                } onEnd: { [unowned client] _ in
                    client.close()
                }
            }
            loop.run()
            #expect(count == 20_000_000)
        }
    }

    @Test func whatTheSystemTakesAtOnceIsWritten() throws {
        try withLoop { loop in
            var received: [UInt8] = []
            try withPair(loop) { client, server in
                #expect([UInt8]([1, 2]).withUnsafeBytes { server.writeNow($0) } == 2)
                #expect(!server.isWriting)
                #expect(server.write([OutputBuffer([3])]) == .written)
                server.close()
                #expect([UInt8]([4]).withUnsafeBytes { server.writeNow($0) } == 0)
                client.open {
                    received += $0
                } onEnd: { [unowned client] _ in
                    client.close()
                }
            }
            loop.run()
            #expect(received == [1, 2, 3])
        }
    }

    @Test func aStreamCanBeClosedWhileItReads() throws {
        try withLoop { loop in
            let log = Log<String>()
            try withPair(loop) { client, server in
                client.write([OutputBuffer(pattern(1_000_000))])
                server.open { [unowned server] _ in
                    log.add("bytes")
                    server.close { log.add("closed") }
                } onEnd: { _ in
                    log.add("end")
                }
                client.open { _ in
                } onEnd: { [unowned client] _ in
                    client.close()
                }
            }
            loop.run()
            #expect(log.entries == ["bytes", "closed"])
        }
    }

    @Test func afterTheEndThisSideCanStillWrite() throws {
        try withLoop { loop in
            let log = Log<String>()
            try withPair(loop) { client, server in
                client.shutdown { log.add($0 == nil ? "shut down" : "failed") }
                client.open { bytes in
                    log.add("client got \(bytes.count)")
                } onEnd: { [unowned client] end in
                    log.add(end == .eof ? "client eof" : "client \(end)")
                    client.close()
                }
                server.open { _ in
                } onEnd: { [unowned server] end in
                    log.add(end == .eof ? "server eof" : "server \(end)")
                    #expect(server.write([OutputBuffer([1, 2, 3])]) == .written)
                    // It ends once.
                    server.open { _ in
                        log.add("bytes")
                    } onEnd: { _ in
                        log.add("again")
                    }
                    let later = Timer(loop)
                    later.start(after: 20) {
                        later.close()
                        server.shutdown { _ in server.close() }
                        #expect([UInt8]([8]).withUnsafeBytes { server.writeNow($0) } == 0)
                    }
                }
            }
            loop.run()
            #expect(log.entries == ["shut down", "server eof", "client got 3", "client eof"])
        }
    }

    @Test func manyStreamsShareTheReadBuffer() throws {
        try withLoop { loop in
            let sent = pattern(300_000)
            var results = 0
            for _ in 0..<20 {
                try withPair(loop) { client, server in
                    var received: [UInt8] = []
                    client.write([OutputBuffer(sent)])
                    client.shutdown { [unowned client] _ in client.close() }
                    server.open {
                        received += $0
                    } onEnd: { [unowned server] _ in
                        #expect(received == sent)
                        results += 1
                        server.close()
                    }
                }
            }
            loop.run()
            #expect(results == 20)
        }
    }
}
