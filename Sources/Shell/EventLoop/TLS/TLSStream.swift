internal import COpenSSL

/// A TLS layer above a stream. OpenSSL works on memory only, and the loop reads and writes.
///
///     stream ──▶ transport ──SSL──▶ receive
///     stream ◀── transport ◀──SSL── write
package final class TLSStream: Channel {
    /// This stream's side of the connection.
    package enum Role {
        case server
        /// A client of a server that must have a certificate for this name or address.
        case client(of: String)
    }

    // OpenSSL has one error queue per thread, and an old entry would be mistaken for the error of a later call. So the
    // queue is cleared before each call whose error is read.
    private let loop: Loop
    private let context: TLSContext
    private let isServer: Bool
    private let stream: any Channel
    /// OpenSSL's connection; nil once closed.
    private var ssl: OpaquePointer?
    private let transport: Transport
    private enum Phase {
        /// The handshake continues with the next input. → `waiting`, `open`, `failed`
        case handshake
        /// The handshake continues in a later turn, because other handshakes have used up this turn's time. →
        /// `handshake`, `failed`
        case waiting
        /// Data can be sent and received. → `failed`
        case open
        case failed
    }

    private var phase = Phase.handshake
    /// The time at which the present count of `Transport.lateMessages` began. Only a few such messages are allowed per
    /// minute.
    private var countedSince: UInt64 = 0
    private static let countingPeriod: UInt64 = 60_000
    /// The output that was written before the end of the handshake.
    private var early: [OutputBuffer] = []
    private var isReading = true
    /// Whether the other side has sent its end.
    private var inputHasEnded = false
    /// Whether this side sends nothing more, except what was written before the end of the handshake.
    private var outputHasEnded = false
    /// Gets all events; nil before `open`, and after a failure or closing.
    private var receive: ((ChannelEvent) -> Void)?

    /// The maximum size of a record.
    private static let recordBytes = 16 << 10

    package init(_ loop: Loop, _ stream: any Channel, _ context: TLSContext, _ role: Role) throws(TLSError) {
        guard let ssl = SSL_new(context.raw), let transport = Transport(of: ssl, stream, context.output) else {
            throw .ofOpenSSL("a connection")
        }
        self.loop = loop
        self.context = context
        self.stream = stream
        self.ssl = ssl
        self.transport = transport
        switch role {
        case .server:
            isServer = true
            SSL_set_accept_state(ssl)
        case .client(let host):
            isServer = false
            Self.expect(host, ssl)
            SSL_set_connect_state(ssl)
        }
    }

    /// Requires that the server's certificate names this host: as an address, or else as a name, which is also sent to
    /// the server.
    private static func expect(_ host: String, _ ssl: OpaquePointer) {
        let parameters = SSL_get0_param(ssl)
        if X509_VERIFY_PARAM_set1_ip_asc(parameters, host) == 1 { return }
        ERR_clear_error()
        SSL_set1_host(ssl, host)
        _ = hand_ssl_set_server_name(ssl, host)
    }

    deinit {
        if let ssl { SSL_free(ssl) }
    }

    package var peerDescription: String { stream.peerDescription }
    package var isWriting: Bool { stream.isWriting || !early.isEmpty }

    package func open(_ receive: @escaping (ChannelEvent) -> Void) {
        self.receive = receive
        stream.open { [unowned self] in take($0) }
        // A client sends first.
        advance()
    }

    // MARK: Reading

    private func take(_ event: ChannelEvent) {
        switch event {
        case .bytes(let bytes):
            guard ssl != nil, phase != .failed else { return }
            transport.receive(bytes) { advance() }
        case .drained: receive?(.drained)
        case .ended(.eof): ended()
        case .ended(let end): fail(end)
        }
    }

    package func stopReading() {
        isReading = false
        stream.stopReading()
    }

    package func resumeReading() {
        guard ssl != nil, !isReading else { return }
        isReading = true
        // Input that has already arrived is handled first, but not inside this call. Then the stream delivers the rest,
        // such as its end.
        loop.soon { [weak self] in self?.continueReading() }
    }

    private func continueReading() {
        advance()
        if isReading { stream.resumeReading() }
    }

    /// Continues the handshake, and then reading, as far as the input allows.
    private func advance() {
        guard let ssl, receive != nil else { return }
        switch phase {
        case .handshake:
            guard let result = shakeHands(ssl) else { return }
            send()
            guard result == 1 else { return check(result) }
            phase = .open
            if isServer { transport.lateMessages = 0 }
            writeEarly()
        case .waiting, .failed: return
        case .open: break
        }
        read()
    }

    /// Continues the handshake. Returns OpenSSL's result; nil if nothing was done.
    private func shakeHands(_ ssl: OpaquePointer) -> Int32? {
        var result: Int32?
        let body = {
            ERR_clear_error()
            result = SSL_do_handshake(ssl)
        }
        if !isServer {
            body()
        } else if transport.hasInput, !context.work(inTurn: loop.now, body) {
            putOff()
        }
        return result
    }

    private func putOff() {
        phase = .waiting
        stream.stopReading()
        loop.soon { [weak self] in
            guard let self else { return }
            if phase == .waiting { phase = .handshake }
            advance()
            if isReading, phase != .waiting { stream.resumeReading() }
        }
    }

    private func read() {
        withUnsafeTemporaryAllocation(byteCount: Self.recordBytes, alignment: 1) { room in
            while isReading, phase != .failed, let ssl {
                // Nearly always nothing is left after the first record, and OpenSSL would take long to find that out.
                if !transport.hasInput, SSL_has_pending(ssl) == 0 { break }
                ERR_clear_error()
                let count = SSL_read(ssl, room.baseAddress, Int32(room.count))
                // Reading may produce output, such as a new key.
                send()
                guard mayAskForKeys() else { return }
                guard count > 0 else { return check(count) }
                receive?(.bytes(UnsafeRawBufferPointer(rebasing: room[..<Int(count)])))
            }
        }
    }

    /// Limits the messages that cost work but carry no data: other limits count only data. If there are too many
    /// messages, ends the stream with an error and returns false.
    private func mayAskForKeys() -> Bool {
        guard let count = transport.lateMessages, count > 0 else { return true }
        if count > Transport.maxLateMessages {
            fail(.broken("TLS: the other side asked for new keys \(count) times within a minute"))
            return false
        }
        if loop.now >= countedSince + Self.countingPeriod {
            countedSince = loop.now
            transport.lateMessages = 0
        }
        return true
    }

    /// Handles the result of an OpenSSL call that did not succeed.
    private func check(_ result: Int32) {
        guard let ssl else { return }
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: send()
        case SSL_ERROR_ZERO_RETURN: ended()
        default: fail(.broken(reason))
        }
    }

    /// The seconds until the peer's certificate expires; nil if the time is unknown.
    package var certificateLifetime: Int? {
        guard let ssl, let certificate = SSL_get1_peer_certificate(ssl) else { return nil }
        defer { X509_free(certificate) }
        var (days, seconds): (Int32, Int32) = (0, 0)
        guard ASN1_TIME_diff(&days, &seconds, nil, X509_get0_notAfter(certificate)) == 1 else { return nil }
        return Int(days) * 86_400 + Int(seconds)
    }

    private var reason: String {
        guard let ssl else { return "closed" }
        let verdict = SSL_get_verify_result(ssl)
        let failure = TLSError.ofOpenSSL("TLS").description
        guard verdict != Int(X509_V_OK), let text = X509_verify_cert_error_string(verdict) else {
            // A server has such alerts from clients, too, which do not trust its own certificate.
            let isRefused = failure.contains(/\ alert .*(certificate|unknown ca)/)
            if isRefused, SSL_is_server(ssl) == 0 {
                return "\(failure): the server asks who you are, and accepts only client certificates that it knows"
            }
            return failure.hasSuffix("wrong version number") || failure.hasSuffix("http request")
                ? "\(failure): the other side does not speak TLS" : failure
        }
        return "\(TLSError.isNotTrusted): \(String(cString: text))"
    }

    private func ended() {
        guard !inputHasEnded, phase != .failed else { return }
        inputHasEnded = true
        if phase != .open { return fail(.broken("TLS: the connection was closed during the handshake")) }
        receive?(.ended(.eof))
    }

    private func fail(_ end: ChannelEnd) {
        guard phase != .failed else { return }
        phase = .failed
        // Sends the peer OpenSSL's alert, if the peer still reads.
        send()
        early = []
        receive.take()?(.ended(end))
    }

    // MARK: Writing

    @discardableResult
    package func write(_ buffers: UnsafeBufferPointer<OutputBuffer>) -> WriteResult {
        guard ssl != nil, phase != .failed, !outputHasEnded else { return .dropped }
        guard phase == .open else {
            early += buffers
            return .draining
        }
        encrypt(buffers)
        return send()
    }

    private func encrypt(_ buffers: some Collection<OutputBuffer>) {
        if buffers.count == 1, let only = buffers.first { return encrypt(only.bytes) }
        // Small buffers share a record: each record costs more than copying.
        withUnsafeTemporaryAllocation(byteCount: Self.recordBytes, alignment: 1) { room in
            var count = 0
            for buffer in buffers {
                if count > 0, count + buffer.bytes.count > room.count {
                    encrypt(UnsafeRawBufferPointer(rebasing: room[..<count]))
                    count = 0
                }
                guard buffer.bytes.count <= room.count else {
                    encrypt(buffer.bytes)
                    continue
                }
                UnsafeMutableRawBufferPointer(rebasing: room[count...]).copyMemory(from: buffer.bytes)
                count += buffer.bytes.count
            }
            encrypt(UnsafeRawBufferPointer(rebasing: room[..<count]))
        }
    }

    private func encrypt(_ bytes: UnsafeRawBufferPointer) {
        guard let ssl, !bytes.isEmpty, phase != .failed else { return }
        ERR_clear_error()
        // The transport takes everything, so `SSL_write` writes everything or fails.
        let count = SSL_write(ssl, bytes.baseAddress, Int32(bytes.count))
        if count <= 0 { check(count) }
    }

    private func writeEarly() {
        let waiting = exchange(&early, with: [])
        encrypt(waiting)
        let result = send()
        if outputHasEnded { return end() }
        if !waiting.isEmpty, result == .written { receive?(.drained) }
    }

    /// Passes OpenSSL's output to the stream.
    @discardableResult
    private func send() -> WriteResult { ssl == nil ? .dropped : transport.send() }

    package func shutdown() {
        guard ssl != nil, phase != .failed, !outputHasEnded else { return }
        outputHasEnded = true
        if phase == .open { end() }
    }

    private func end() {
        guard let ssl else { return }
        SSL_shutdown(ssl)
        send()
        stream.shutdown()
    }

    package func close() {
        guard let ssl = ssl.take() else { return }
        // Freed later, because OpenSSL may be on the stack, for example inside `receive`.
        loop.soon { SSL_free(ssl) }
        receive = nil
        early = []
        stream.close()
    }
}
