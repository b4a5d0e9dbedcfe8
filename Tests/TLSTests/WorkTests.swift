import COpenSSL
import EventLoop
import Foundation
import HandTestSupport
import TLS
import Testing

/// How much work one side may cause for the other.
@Suite struct WorkTests {
    private let folder: TemporaryFolder
    private let certificates: Certificates

    init() throws {
        folder = try TemporaryFolder()
        certificates = try Certificates(folder)
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
            hand_bio_never_ends(input)
            hand_bio_never_ends(output)
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
            var bytes: UnsafeMutablePointer<CChar>?
            let count = hand_bio_bytes(output, &bytes)
            guard count > 0, let bytes else { return }
            stream.write([OutputBuffer([UInt8](UnsafeRawBufferPointer(start: bytes, count: count)))])
            hand_bio_drop(output)
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

    /// Keys may be changed a few times; a client that wants it again and again is disconnected, and OpenSSL does not
    /// process all of it first.
    @Test(arguments: [(10, true), (2_000, false)]) func keyChangesAreLimited(count: Int, isServed: Bool) throws {
        let own = try certificates.make("server", for: "IP:127.0.0.1")
        let server = try TLSContext.server(certificate: own.certificate, key: own.key)
        let loop = try Loop()
        defer { loop.close() }
        var kept: [AnyObject] = []
        var (received, end, hasAsked): (Int, ChannelEnd?, Bool) = (0, nil, false)
        var listener: Listener?
        listener = try Listener.tcp(loop, address: SocketAddress(ip: "127.0.0.1", port: 0)) { stream in
            listener?.close()
            guard let channel = try? TLSStream(loop, stream, server, .server) else { return stream.close() }
            kept.append(channel)
            channel.open { [unowned channel] in
                received += $0.count
                channel.write([OutputBuffer([7])])
            } onEnd: { [unowned channel] in
                end = $0
                channel.close()
            }
        }
        var answered = 0
        TCP.connect(loop, to: try #require(listener?.localAddress)) { result in
            guard case .success(let stream) = result else { return }
            let client = RawClient(stream) { client in
                if client.isReady, !hasAsked {
                    hasAsked = true
                    client.changeKeys(count)
                }
                answered = client.received
                if answered > 0 { client.stream.close() }
            }
            kept.append(client)
            client.begin()
        }
        loop.run()
        #expect(hasAsked)
        #expect((received == 1) == isServed && (answered == 1) == isServed)
        #expect("\(try #require(end))".contains("new keys again and again") == !isServed, "\(String(describing: end))")
    }

    /// Many simultaneous handshakes do not keep the loop from other work.
    @Test func handshakesAreSpreadOverTurns() throws {
        let own = try certificates.make("server", for: "IP:127.0.0.1", bits: 4_096)
        let server = try TLSContext.server(certificate: own.certificate, key: own.key)
        let loop = try Loop()
        defer { loop.close() }
        var (kept, ready, turns): ([AnyObject], Int, Int) = ([], 0, 0)
        let most = 50
        let hook = loop.onTurnEnd { if ready > 0 { turns += 1 } }
        let listener = try Listener.tcp(loop, address: SocketAddress(ip: "127.0.0.1", port: 0)) { stream in
            guard let channel = try? TLSStream(loop, stream, server, .server) else { return stream.close() }
            kept.append(channel)
            channel.open { _ in
            } onEnd: { [unowned channel] _ in
                channel.close()
            }
        }
        let address = try #require(listener.localAddress)
        var waiting: [RawClient] = []
        for _ in 0..<most {
            TCP.connect(loop, to: address) { result in
                guard case .success(let stream) = result else { return }
                var isCounted = false
                let client = RawClient(stream) { client in
                    guard client.isReady, !isCounted else { return }
                    isCounted = true
                    ready += 1
                    if ready == most { loop.stop() }
                }
                waiting.append(client)
                kept.append(client)
                // All of them at once.
                if waiting.count == most { for client in waiting { client.begin() } }
            }
        }
        loop.run()
        hook.cancel()
        #expect(ready == most)
        #expect(turns > 2 * 4, "all were served in \(turns / 2) turns")
    }
}
