import COpenSSL
import EventLoop
import Foundation
import HandTestSupport
import Testing

/// How much work one side may cause for the other.
@Suite struct TLSWorkTests {
    private let folder: TemporaryFolder
    private let certificates: Certificates

    init() throws {
        folder = try TemporaryFolder()
        certificates = try Certificates(folder)
    }

    private func server(bits: Int? = nil) throws -> TLSContext {
        let own = try certificates.make("server", for: "IP:127.0.0.1", bits: bits)
        return try .server(certificate: own.certificate, key: own.key)
    }

    /// A client that follows no rules, made with OpenSSL alone.
    private final class RawClient {
        let ssl: OpaquePointer
        private let context: OpaquePointer
        private let input = BIO_new(BIO_s_mem())!
        private let output = BIO_new(BIO_s_mem())!
        let stream: TCP
        var isReady: Bool { SSL_is_init_finished(ssl) == 1 }
        private(set) var hasEnded = false

        init(_ stream: TCP, onProgress: @escaping (RawClient) -> Void) {
            self.stream = stream
            context = SSL_CTX_new(TLS_client_method())
            ssl = SSL_new(context)
            // Without input, more will arrive.
            for bio in [input, output] { BIO_ctrl(bio, Int32(BIO_C_SET_BUF_MEM_EOF_RETURN), -1, nil) }
            SSL_set_bio(ssl, input, output)
            SSL_set_connect_state(ssl)
            stream.open { [unowned self] bytes in
                BIO_write(input, bytes.baseAddress, Int32(bytes.count))
                if !isReady { SSL_do_handshake(ssl) }
                read()
                send()
                onProgress(self)
            } onEnd: { [unowned self] _ in
                hasEnded = true
                onProgress(self)
                stream.close()
            }
        }

        deinit {
            SSL_free(ssl)
            SSL_CTX_free(context)
        }

        private(set) var received = 0

        private func read() {
            var room = [UInt8](repeating: 0, count: 4_096)
            while true {
                let count = SSL_read(ssl, &room, Int32(room.count))
                guard count > 0 else { return }
                received += Int(count)
            }
        }

        func begin() {
            SSL_do_handshake(ssl)
            send()
        }

        /// Sends OpenSSL's output in one piece.
        func send() {
            var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(output))
            guard BIO_read(output, &bytes, Int32(bytes.count)) > 0 else { return }
            stream.write([OutputBuffer(bytes)])
        }

        /// Changes keys that many times, then sends one byte.
        func changeKeys(_ count: Int) {
            for _ in 0..<count {
                SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED)
                SSL_do_handshake(ssl)
            }
            var byte: UInt8 = 1
            SSL_write(ssl, &byte, 1)
            send()
        }
    }

    /// Keys may be changed a few times; a client that asks for it more often is disconnected, and OpenSSL does
    /// not process all of its messages first.
    @Test(arguments: [(10, true), (2_000, false)]) func keyChangesAreLimited(count: Int, isServed: Bool) throws {
        let sides = try Sides()
        var (received, end, hasAsked): (Int, ChannelEnd?, Bool) = (0, nil, false)
        let address = try sides.serve(server()) { channel in
            channel.open { [unowned channel] in
                received += $0.count
                channel.write([OutputBuffer([7])])
            } onEnd: { [unowned channel] in
                end = $0
                channel.close()
            }
        }
        var answered = 0
        sides.connect(to: address) { stream in
            let client = RawClient(stream) { client in
                if client.isReady, !hasAsked {
                    hasAsked = true
                    client.changeKeys(count)
                }
                answered = client.received
                if answered > 0 { client.stream.close() }
            }
            sides.keep(client)
            client.begin()
        }
        sides.run()
        #expect(hasAsked)
        #expect((received == 1) == isServed && (answered == 1) == isServed)
        #expect("\(try #require(end))".contains("new keys 17 times") == !isServed, "\(String(describing: end))")
    }

    /// Each request for a new key is answered to its own client, also if the server writes to another one first.
    @Test func answersToKeyChangesReachTheirClients() throws {
        let sides = try Sides()
        var (channels, clients): ([TLSStream], [RawClient]) = ([], [])
        let address = try sides.serve(server(), connections: 2) { channel in
            channels.append(channel)
            channel.open { [unowned channel] _ in
                for other in channels where other !== channel { other.write([OutputBuffer([1])]) }
                channel.write([OutputBuffer([2])])
            } onEnd: { [unowned channel] in
                #expect($0 == .eof)
                channel.close()
            }
        }
        for _ in 0..<2 {
            sides.connect(to: address) { stream in
                var hasAsked = false
                let client = RawClient(stream) { client in
                    if clients.count == 2, clients.allSatisfy(\.isReady), !hasAsked {
                        hasAsked = true
                        client.changeKeys(1)
                    }
                    // Its own answer, and what the other one's request has caused.
                    if clients.allSatisfy({ $0.received == 2 }) { for client in clients { client.stream.shutdown() } }
                }
                clients.append(client)
                client.begin()
            }
        }
        sides.run()
        #expect(clients.map(\.received) == [2, 2])
    }

    /// Many simultaneous handshakes do not keep the loop from other work.
    @Test func handshakesAreSpreadOverTurns() throws {
        let sides = try Sides()
        let most = 50
        var (ready, turns, waiting): (Int, Int, [RawClient]) = (0, 0, [])
        let hook = sides.loop.onTurnEnd { if ready > 0 { turns += 1 } }
        let address = try sides.serve(server(bits: 4_096), connections: most) { channel in
            channel.open({ _ in }, onEnd: { [unowned channel] _ in channel.close() })
        }
        for _ in 0..<most {
            sides.connect(to: address) { stream in
                var isCounted = false
                let client = RawClient(stream) { client in
                    guard client.isReady, !isCounted else { return }
                    isCounted = true
                    ready += 1
                    if ready == most { for client in waiting { client.stream.close() } }
                }
                waiting.append(client)
                // All of them at once.
                if waiting.count == most { for client in waiting { client.begin() } }
            }
        }
        sides.run()
        hook.cancel()
        #expect(ready == most)
        #expect(turns > 2 * 4, "all were served in \(turns / 2) turns")
    }
}
