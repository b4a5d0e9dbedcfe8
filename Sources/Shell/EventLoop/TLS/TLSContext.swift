internal import COpenSSL
internal import Glibc

/// The common settings of encrypted connections: certificates and trusted authorities. TLS 1.2 and newer, with OpenSSL.
package final class TLSContext {
    let raw: OpaquePointer
    /// Shared by all connections.
    let output = TransportOutput()
    /// The time spent on a server's handshakes in one turn of the loop.
    private var turn: (time: UInt64, nanoseconds: UInt64) = (0, 0)
    /// Handshakes must not delay other clients: with a large RSA key, one takes several milliseconds.
    private static let nanosecondsPerTurn: UInt64 = 5_000_000

    /// Sets up OpenSSL without a clean-up at exit. Exit does not wait for a client's thread, which may still free
    /// connections.
    static let isSetUp = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1

    private init(_ method: () -> OpaquePointer?) throws(TLSError) {
        // Before any other call of OpenSSL: only the first call decides about the clean-up.
        guard Self.isSetUp else { throw .ofOpenSSL("no TLS") }
        guard let raw = SSL_CTX_new(method()) else { throw .ofOpenSSL("no TLS") }
        self.raw = raw
        guard hand_ssl_at_least_1_2(raw) == 1 else { throw .ofOpenSSL("no TLS 1.2") }
        // Renegotiation would let the peer cause endless work on one connection.
        hand_ssl_never_renegotiate(raw)
        // Idle connections keep no buffers.
        _ = hand_ssl_release_buffers(raw)
    }

    deinit {
        SSL_CTX_free(raw)
    }

    /// - Parameters:
    ///   - certificate: a file with the server's certificate and the intermediate ones, in PEM.
    ///   - key: a file with the certificate's key, in PEM, without a password.
    ///   - clientAuthority: a file with the certificates of the authorities that must have signed each client's
    ///     certificate; nil if clients need no certificate.
    package static func server(
        certificate: String, key: String, clientAuthority: String? = nil
    ) throws(TLSError) -> TLSContext {
        let context = try TLSContext(TLS_server_method)
        try context.use(certificate: certificate, key: key)
        if let clientAuthority {
            try context.trust(clientAuthority)
            SSL_CTX_set_verify(context.raw, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
            // Without a context id, OpenSSL ends connections that resume a session.
            SSL_CTX_set_session_id_context(context.raw, Array("hand".utf8), 4)
            SSL_CTX_set_client_CA_list(context.raw, SSL_load_client_CA_file(clientAuthority))
        }
        return context
    }

    /// - Parameters:
    ///   - authorities: a file with the certificates of the authorities that must have signed the server's certificate;
    ///     nil for the system's authorities.
    ///   - certificate: files with the client's certificate and its key, in PEM, if the server asks for one.
    package static func client(
        authorities: String? = nil, certificate: (file: String, key: String)? = nil
    ) throws(TLSError) -> TLSContext {
        let context = try TLSContext(TLS_client_method)
        try context.trust(authorities)
        SSL_CTX_set_verify(context.raw, SSL_VERIFY_PEER, nil)
        if let certificate { try context.use(certificate: certificate.file, key: certificate.key) }
        return context
    }

    /// The reason why others do not trust the certificate, or soon will not; nil if there is no problem.
    package var certificateProblem: String? {
        guard let certificate = SSL_CTX_get0_certificate(raw) else { return nil }
        let (left, since) = (hand_x509_seconds_left(certificate), hand_x509_seconds_since(certificate))
        func days(_ seconds: Int) -> String {
            switch seconds / 86_400 {
            case 0: "less than a day"
            case 1: "1 day"
            case let days: "\(days) days"
            }
        }
        if left < 0 { return "the certificate has expired, \(days(-left)) ago" }
        if since < 0 { return "the certificate is not valid yet; is the clock right?" }
        return left < 7 * 86_400 ? "the certificate expires in \(days(left))" : nil
    }

    /// When the certificate ends, in seconds since 1970; nil without one.
    package var certificateEnd: Int? {
        SSL_CTX_get0_certificate(raw).map { Int(time(nil)) + Int(hand_x509_seconds_left($0)) }
    }

    /// The host name in the certificate; the first one if there are several.
    package var hostName: String? {
        guard let certificate = SSL_CTX_get0_certificate(raw), let name = hand_x509_host(certificate) else {
            return nil
        }
        defer { hand_free(name) }
        return String(cString: name)
    }

    /// Whether clients that connect to this IP address accept the certificate.
    package func covers(ip: String) -> Bool {
        SSL_CTX_get0_certificate(raw).map { X509_check_ip_asc($0, ip, 0) == 1 } ?? false
    }

    // MARK: The work of handshakes

    /// Runs `body`, a step of a handshake, unless the given turn has used up its time for handshakes. Returns whether
    /// `body` ran.
    func work(inTurn time: UInt64, _ body: () -> Void) -> Bool {
        if turn.time != time { turn = (time, 0) }
        guard turn.nanoseconds < Self.nanosecondsPerTurn else { return false }
        let start = Loop.monotonicNanoseconds
        body()
        turn.nanoseconds += Loop.monotonicNanoseconds - start
        return true
    }

    // MARK: Files

    private func use(certificate: String, key: String) throws(TLSError) {
        // Without this, OpenSSL asks for the password of a key on the terminal, and a server stands still.
        SSL_CTX_set_default_passwd_cb(raw) { _, _, _, _ in -1 }
        guard SSL_CTX_use_certificate_chain_file(raw, certificate) == 1 else {
            throw .ofFile(certificate, "the certificate", without: "certificate")
        }
        guard SSL_CTX_use_PrivateKey_file(raw, key, SSL_FILETYPE_PEM) == 1 else {
            throw .ofFile(key, "the key", without: "private key without a password", of: certificate)
        }
    }

    private func trust(_ file: String?) throws(TLSError) {
        guard let file else {
            guard SSL_CTX_set_default_verify_paths(raw) == 1 else { throw .ofOpenSSL("the system's certificates") }
            return
        }
        guard SSL_CTX_load_verify_locations(raw, file, nil) == 1 else {
            throw .ofFile(file, "the certificates", without: "certificate")
        }
    }
}

extension TLSError {
    /// The beginning of the message about a certificate that no known authority has signed.
    package static let isNotTrusted = "TLS: the certificate is not trusted"

    /// Whether a server has ended a connection for the client's certificate, or because the client has none.
    package static func isAboutCertificate(_ reason: String) -> Bool {
        reason.hasPrefix(isNotTrusted) || reason.hasPrefix("TLS: peer did not return a certificate")
    }

    /// Says what is wrong with a file: it cannot be read, does not hold what it should, or does not fit the
    /// certificate.
    fileprivate static func ofFile(
        _ file: String, _ name: String, without content: String, of certificate: String? = nil
    ) -> Self {
        var facts = stat()
        if stat(file, &facts) != 0 || access(file, R_OK) != 0 {
            ERR_clear_error()
            return Self(description: "\(name) \(file) cannot be read: \(String(cString: strerror(errno)))")
        }
        let failure = ofOpenSSL("\(name) \(file)")
        let reason = failure.description.split(separator: ": ").last ?? ""
        switch reason {
        case "key values mismatch", "key type mismatch":
            return Self(description: "the key \(file) does not belong to the certificate \(certificate ?? "")")
        case "no start line", "unsupported", "bad base64 decode", "bad end line", "not enough data", "cannot be used",
            "no certificate or crl found", "no certificate assigned", "interrupted or cancelled", "bad password read",
            "problems getting password":
            return Self(description: "\(file) holds no \(content), in PEM")
        default: return failure
        }
    }

    /// Returns OpenSSL's error about `subject`: the first in its queue, which caused the others. Clears the queue.
    static func ofOpenSSL(_ subject: String) -> Self {
        let reason = ERR_reason_error_string(ERR_get_error()).map { String(cString: $0) }
        ERR_clear_error()
        return Self(description: "\(subject): \(reason ?? "cannot be used")")
    }
}

/// A problem with a certificate, a key, or a connection, for people.
package struct TLSError: Error, Equatable, CustomStringConvertible {
    package let description: String
}
