/// What to do if a server cannot be reached, or does not let this client in.
enum ServerAdvice {
    /// Parts of messages, each with its advice. The first part that the message contains counts.
    private static let table: [(sign: String, advice: String)] = [
        (
            "certificate has expired",
            "ask the server's operator to renew the certificate. If it is new, look at this machine's clock: date"
        ),
        (
            "not yet valid",
            "look at this machine's clock: date. If it is right, ask the operator when the certificate becomes valid"
        ),
        ("mismatch", "use a name that is in the server's certificate, or ask its operator for one with this name"),
        (
            "certificate is not trusted",
            "if the server's operator gave you a file with the authority's certificate, name it: HAND_CA=FILE, or ca in "
                + "the context"
        ),
        (
            "the certificates ",
            "correct the name of the file with the authorities: HAND_CA, or ca in the context or the configuration file"
        ),
        (
            "client certificates",
            "name a certificate that the server's operator gave you, and that is still valid: HAND_CERT=FILE, or cert in "
                + "the context"
        ),
        (
            "does not belong to the certificate",
            "name the certificate's own key: HAND_CERT_KEY=FILE, or cert-key in the context"
        ),
        (
            "does not speak TLS",
            "if you trust the network, use an address that begins with hand://; otherwise the server needs a certificate"
        ),
        ("begins with hands://", "use an address that begins with hands://"),
        ("closed during the handshake", "check the port: another program may listen there"),
        ("takes no new connections", "wait until its operator has started it again, or ask them for another server"),
        ("the server is stopping", "try again in a moment; if it does not start again, tell its operator"),
        (
            "cannot reach its store",
            "wait until the server reaches its database again; if it does not, tell its operator"
        ),
        ("connections at a time", "try again later, or ask the server's operator to raise --max-connections"),
        (
            "did not answer within",
            "check the port: another program may listen there. If it is the right one, try a longer --timeout"
        ),
    ]

    static func about(_ failure: Failure) -> String? {
        if let advice = table.first(where: { failure.message.contains($0.sign) })?.advice { return advice }
        switch failure.status {
        case .notAllowed:
            return "ask the server's operator for a new link or token, and store it: "
                + "hand context add NAME ADDRESS --ask-token"
        case .unreachable: return "check the address, and ask the server's operator whether the server runs"
        default: return nil
        }
    }
}
