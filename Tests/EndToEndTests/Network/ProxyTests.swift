import EventLoop
import FaultyNetwork
import Testing

/// The bad network itself: it must pass on exactly the bytes that it received, and hold no more of them than it
/// promises.
@Suite(.timeLimit(.minutes(5))) struct ProxyTests {
    /// Sends bytes through a proxy to a server that counts them. Calls `body` after each read with the number of bytes
    /// that have arrived.
    private func send(
        _ bytes: [UInt8], _ faults: Faults, _ body: (FaultyProxy, Loop, @escaping () -> [UInt8]) async throws -> Void
    ) async throws {
        let loop = try Loop()
        var arrived: [UInt8] = []
        let listener = try Listener.tcp(
            loop, address: try SocketAddress(ip: "127.0.0.1", port: 0),
            onConnection: { stream in
                stream.open {
                    arrived += $0
                } onEnd: { [unowned stream] _ in
                    stream.close()
                }
            })
        let proxy = try FaultyProxy(to: try #require(listener.localAddress), seed: 1, faults: faults)
        TCP.connect(loop, to: proxy.address) { result in
            guard let stream = try? result.get() else { return }
            stream.open { _ in
            } onEnd: { [unowned stream] _ in
                stream.close()
            }
            stream.write([OutputBuffer(bytes)])
            stream.shutdown()
        }
        try await body(proxy, loop) { arrived }
        proxy.close()
        loop.close()
    }

    private let pattern = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }

    @Test func everythingArrivesInOrder() async throws {
        var faults = Faults()
        faults.bothWays {
            $0.latency = 5
            $0.jitter = 5
            $0.pieceBytes = 1...9_000
        }
        try await send(pattern, faults) { _, loop, arrived in
            while arrived().count < pattern.count { loop.runOnce() }
            #expect(arrived() == pattern)
        }
    }

    @Test func heldBytesAreBounded() async throws {
        var faults = Faults()
        faults.up.pieceBytes = 1...2_000
        // Slow enough that not all bytes pass before it is stopped.
        faults.up.bytesPerSecond = 3_000_000
        try await send(pattern, faults) { proxy, loop, arrived in
            while arrived().count < 100_000 { loop.runOnce() }
            proxy.change { $0.isPartitioned = true }
            // Until it has accepted as much as it can hold.
            var held = 0
            while held < 256 << 10 { held = await proxy.heldBytes().reduce(0, +) }
            #expect(held <= 320 << 10)
            let before = await proxy.heldBytes()
            #expect(before == (await proxy.heldBytes()))
            proxy.heal()
            while arrived().count < pattern.count { loop.runOnce() }
            #expect(arrived() == pattern)
        }
    }

    @Test func aResetResetsBothEnds() async throws {
        try await confirmation { confirmed in
            let loop = try Loop()
            let listener = try Listener.tcp(
                loop, address: try SocketAddress(ip: "127.0.0.1", port: 0),
                onConnection: { stream in
                    stream.open { _ in
                    } onEnd: { [unowned stream] end in
                        #expect(end == .failed(.connectionReset))
                        confirmed()
                        stream.close()
                        loop.stop()
                    }
                })
            let proxy = try FaultyProxy(to: try #require(listener.localAddress), seed: 1)
            TCP.connect(loop, to: proxy.address) { result in
                guard let stream = try? result.get() else { return }
                stream.write([OutputBuffer([1])])
                stream.open { _ in
                } onEnd: { [unowned stream] _ in
                    stream.close()
                }
            }
            proxy.change { $0.up.resetsPerPiece = 1 }
            loop.run()
            #expect(proxy.traffic.resets == 1)
            proxy.close()
            loop.close()
        }
    }
}
