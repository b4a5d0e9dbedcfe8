import COpenSSL
import EventLoop
import HandCore
import HandTestSupport
import Testing

/// Two sides on one loop, with a real socket in between.
@Suite struct TLSTests {
    private let folder: TemporaryFolder
    private let certificates: Certificates
    private let server: TLSContext

    init() throws {
        folder = try TemporaryFolder()
        certificates = try Certificates(folder)
        let own = try certificates.make("server", for: "DNS:example.test,IP:127.0.0.1")
        server = try .server(certificate: own.certificate, key: own.key)
    }

    private var client: TLSContext {
        get throws { try .client(authorities: certificates.authority) }
    }

    /// The bytes and events that both sides have seen.
    private struct Seen {
        var server: [UInt8] = []
        var client: [UInt8] = []
        var serverEnd: ChannelEnd?
        var clientEnd: ChannelEnd?
        var clientDrains = 0
    }

    /// Runs a server that sends back what it receives until its client has ended, and a client that sends `bytes` in
    /// those pieces and ends when everything is back, or after a failure.
    ///
    /// - Parameter disturb: called whenever either side has received something, and before the client writes.
    private func exchange(
        _ pieces: [[UInt8]], server: TLSContext?, client: TLSContext?, host: String = "127.0.0.1",
        disturb: @escaping () -> Void = {}
    ) throws -> Seen {
        let loop = try Loop()
        defer { loop.close() }
        var seen = Seen()
        var kept: [any Channel] = []
        let expected = pieces.reduce(0) { $0 + $1.count }
        var listener: Listener?
        listener = try Listener.tcp(loop, address: SocketAddress(ip: "127.0.0.1", port: 0)) { stream in
            listener?.close()
            guard let channel: any Channel = server == nil ? stream : try? TLSStream(loop, stream, server!, .server)
            else {
                return stream.close()
            }
            kept.append(channel)
            channel.open { [unowned channel] bytes in
                seen.server.append(contentsOf: bytes)
                disturb()
                channel.write([OutputBuffer([UInt8](bytes))])
                disturb()
            } onEnd: { [unowned channel] end in
                seen.serverEnd = end
                channel.close()
            }
        }
        let address = try #require(listener?.localAddress)
        TCP.connect(loop, to: address) { result in
            guard case .success(let stream) = result,
                let channel: any Channel = client == nil
                    ? stream : try? TLSStream(loop, stream, client!, .client(of: host))
            else { return }
            kept.append(channel)
            channel.open { [unowned channel] bytes in
                seen.client.append(contentsOf: bytes)
                disturb()
                if seen.client.count == expected { channel.shutdown() }
            } onDrain: {
                seen.clientDrains += 1
            } onEnd: { [unowned channel] end in
                seen.clientEnd = end
                channel.close()
            }
            for piece in pieces {
                disturb()
                channel.write([OutputBuffer(piece)])
            }
        }
        loop.run()
        return seen
    }

    @Test func sentBytesArriveInOrder() throws {
        var random = SplitMix64(seed: testSeed(831))
        let pieces = (0..<60).map { _ in
            (0..<(1 + random.next(below: random.next(below: 4) == 0 ? 300_000 : 300))).map { _ in
                UInt8(random.next(below: 256))
            }
        }
        let seen = try exchange(pieces, server: server, client: client)
        #expect(seen.server == pieces.flatMap(\.self))
        #expect(seen.client == seen.server)
        #expect(seen.serverEnd == .eof)
    }

    /// Bytes written before the handshake is complete wait for it; then their writer is notified.
    @Test func earlyWritesAreDrained() throws {
        let seen = try exchange([[1]], server: server, client: client)
        #expect(seen.clientDrains == 1)
    }

    /// The server's output takes long, and goes on after its client has ended the other direction.
    @Test func outputIsDrainedAfterTheEndOfInput() throws {
        let sides = try Sides()
        var (received, drains): (Int, Int) = (0, 0)
        var ends: [ChannelEnd] = []
        let address = try sides.serve(server) { channel in
            channel.open { [unowned channel] _ in
                #expect(channel.write([OutputBuffer([UInt8](repeating: 7, count: 20_000_000))]) == .draining)
            } onDrain: { [unowned channel] in
                drains += 1
                #expect(channel.write([OutputBuffer([8])]) == .written)
                channel.close()
            } onEnd: {
                ends.append($0)
            }
        }
        sides.connect(to: address, try client) { channel in
            channel.open({ received += $0.count }, onEnd: { [unowned channel] _ in channel.close() })
            channel.write([OutputBuffer([1])])
            channel.shutdown()
        }
        sides.run()
        #expect(received == 20_000_001)
        #expect(drains == 1)
        #expect(ends == [.eof])
    }

    /// A side that stops reading in the middle of received data gets the rest when it continues, also if nothing more
    /// arrives.
    @Test func readingCanStopAndContinue() throws {
        let sides = try Sides()
        var (received, parts): ([UInt8], Int) = ([], 0)
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) }
        let address = try sides.serve(server) { channel in
            channel.open { [unowned channel] part in
                received += part
                parts += 1
                channel.stopReading()
                // Not before everything that the client has sent is here.
                let timer = EventLoop.Timer(sides.loop)
                timer.start(after: 5) {
                    timer.close()
                    channel.resumeReading()
                }
            } onEnd: { [unowned channel] _ in
                channel.close()
            }
        }
        sides.connect(to: address, try client) { channel in
            channel.open({ _ in }, onEnd: { [unowned channel] _ in channel.close() })
            channel.write([OutputBuffer(bytes)])
            channel.shutdown()
        }
        sides.run()
        #expect(received == bytes && parts > 5)
    }

    /// Once a connection is closed, nothing retains it, or the stream below it.
    @Test func aClosedConnectionIsFreed() throws {
        weak var (channel, stream): (TLSStream?, TCP?)
        do {
            let sides = try Sides()
            let address = try sides.serve(server) { channel in
                channel.open({ _ in }, onEnd: { [unowned channel] _ in channel.close() })
            }
            let context = try client
            sides.connect(to: address) { tcp in
                stream = tcp
                guard let tls = try? TLSStream(sides.loop, tcp, context, .client(of: "127.0.0.1")) else { return }
                channel = tls
                sides.keep(tls)
                tls.open({ _ in }, onEnd: { _ in })
                tls.write([OutputBuffer([1])])
                tls.shutdown()
                sides.loop.soon { tls.close() }
            }
            sides.run()
            #expect(channel != nil && stream != nil)
        }
        #expect(channel == nil && stream == nil)
    }

    /// OpenSSL has one error queue for everything on a thread. An error that something else has left there is not taken
    /// for the reason of this connection's end.
    @Test func othersErrorsAreIgnored() throws {
        let pieces = (0..<40).map { [UInt8](repeating: UInt8($0), count: 5_000) }
        let seen = try exchange(pieces, server: server, client: client) {
            #expect(BIO_new_file("/nowhere", "r") == nil && ERR_peek_error() != 0)
        }
        #expect(seen.server == pieces.flatMap(\.self) && seen.client == seen.server)
        #expect(seen.serverEnd == .eof)
    }

    /// A side that ends says so within TLS, where nobody else can: bytes after that are ignored.
    @Test func bytesAfterTheEndAreIgnored() throws {
        let loop = try Loop()
        defer { loop.close() }
        var kept: [any Channel] = []
        var end: ChannelEnd?
        let target = try Listener.tcp(loop, address: SocketAddress(ip: "127.0.0.1", port: 0)) { [server] stream in
            guard let channel = try? TLSStream(loop, stream, server, .server) else { return stream.close() }
            kept.append(channel)
            channel.open(
                { _ in },
                onEnd: { [unowned channel] in
                    end = $0
                    channel.close()
                })
        }
        // A relay between the two. When the client's connection ends, it sends bytes of its own to the server.
        let between = try Listener.tcp(loop, address: SocketAddress(ip: "127.0.0.1", port: 0)) { client in
            kept.append(client)
            TCP.connect(loop, to: target.localAddress!) { result in
                guard case .success(let onward) = result else { return client.close() }
                kept.append(onward)
                onward.open(
                    { client.write([OutputBuffer([UInt8]($0))]) },
                    onEnd: { _ in
                        onward.close()
                        client.close()
                        target.close()
                    })
                client.open(
                    { onward.write([OutputBuffer([UInt8]($0))]) },
                    onEnd: { _ in
                        onward.write([OutputBuffer(Array("something else".utf8))])
                        onward.shutdown()
                    })
            }
        }
        let context = try client
        TCP.connect(loop, to: try #require(between.localAddress)) { result in
            between.close()
            guard case .success(let stream) = result,
                let channel = try? TLSStream(loop, stream, context, .client(of: "127.0.0.1"))
            else { return }
            kept.append(channel)
            channel.open({ _ in }, onEnd: { [unowned channel] _ in channel.close() })
            channel.write([OutputBuffer([1])])
            channel.shutdown()
        }
        loop.run()
        #expect(end == .eof)
    }

    @Test func theCertificatesNameIsChecked() throws {
        #expect(try exchange([[1]], server: server, client: client, host: "example.test").client == [1])
        let other = try exchange([[1]], server: server, client: client, host: "other.test")
        #expect(other.server.isEmpty && other.client.isEmpty)
        #expect("\(try #require(other.clientEnd))".contains("hostname mismatch"))
        let address = try exchange([[1]], server: server, client: client, host: "127.0.0.2")
        #expect("\(try #require(address.clientEnd))".contains("IP address mismatch"))
    }

    @Test func untrustedServersAreRefused() throws {
        let stranger = try exchange([[1]], server: server, client: .client())
        #expect("\(try #require(stranger.clientEnd))".contains("not trusted"))
        #expect(stranger.server.isEmpty)
        #expect(stranger.serverEnd != nil && stranger.serverEnd != .eof)
        let old = try certificates.make("old", for: "IP:127.0.0.1", days: -1)
        let expired = try exchange([[1]], server: .server(certificate: old.certificate, key: old.key), client: client)
        #expect("\(try #require(expired.clientEnd))".contains("expired"))
    }

    @Test func aClientMayNeedACertificate() throws {
        let own = try certificates.make("server2", for: "IP:127.0.0.1")
        let strict = try TLSContext.server(
            certificate: own.certificate, key: own.key, clientAuthority: certificates.authority)
        let refused = try exchange([[1]], server: strict, client: client)
        #expect(refused.server.isEmpty)
        #expect("\(try #require(refused.serverEnd))".contains("did not return a certificate"))
        let ada = try certificates.make("ada", for: "DNS:ada")
        let known = try TLSContext.client(
            authorities: certificates.authority, certificate: (ada.certificate, ada.key))
        #expect(try exchange([[1, 2]], server: strict, client: known).client == [1, 2])
    }

    @Test func aSideWithoutTLSIsRefused() throws {
        let plainClient = try exchange([Array("hello".utf8)], server: server, client: nil)
        #expect("\(try #require(plainClient.serverEnd))".contains("does not speak TLS"))
        let plainServer = try exchange([[1]], server: nil, client: client)
        #expect("\(try #require(plainServer.clientEnd))".contains("TLS"))
        #expect(plainServer.client.isEmpty)
    }

    @Test func wrongCertificateFilesAreReported() throws {
        let one = try certificates.make("one", for: "DNS:one")
        let other = try certificates.make("other", for: "DNS:other")
        for (certificate, key, text) in [
            (one.certificate, other.key, "does not belong to"), ("/nowhere", one.key, "/nowhere"),
            (one.key, one.key, "holds no certificate"), (one.certificate, "/nowhere", "/nowhere"),
        ] {
            do {
                _ = try TLSContext.server(certificate: certificate, key: key)
                Issue.record("\(certificate) with \(key) was taken")
            } catch {
                #expect("\(error)".contains(text), "\(error)")
            }
        }
        #expect(throws: TLSError.self) { try TLSContext.client(authorities: "/nowhere") }
    }
}
