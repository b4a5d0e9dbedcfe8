import FoundationEssentials
import HandWire

/// The address of a server, and perhaps of a list on it: `hand://host:7777/groceries`, `hands://host:7777/groceries` with TLS,
/// `hand+unix:///run/hand.sock/groceries`.
package struct HandAddress: Equatable, Sendable {
    package enum Server: Hashable, Sendable {
        case tcp(host: String, port: UInt16)
        /// With TLS; the server's certificate must name the host.
        case tls(host: String, port: UInt16)
        case unix(path: String)
    }

    package var server: Server
    /// The list's name; nil if the address only names a server.
    package var list: String?
    /// The secret after a `#`, as in a link that somebody was given. It is never shown.
    package var token: String?

    package static let defaultPort: UInt16 = 7777
    package static let local = HandAddress(server: .tcp(host: "127.0.0.1", port: defaultPort), list: nil)

    package init(server: Server, list: String?, token: String? = nil) {
        self.server = server
        self.list = list
        self.token = token
    }

    /// The secret after the `#` of a URL; nil if there is none.
    package static func token(in text: String) -> String? {
        guard let mark = text.utf8.firstIndex(of: UInt8(ascii: "#")) else { return nil }
        let token = String(text[text.utf8.index(after: mark)...])
        return token.isEmpty ? nil : token
    }

    /// What is wrong with an address, and how to write one.
    package struct ParseError: Error, Equatable, CustomStringConvertible {
        package let description: String
    }

    /// Reads an address. `/groceries` and `groceries` alone are not addresses; the command line joins them to a server.
    package init(_ text: String) throws {
        let (server, path) = try Self.parts(of: text)
        if path.count > 1 { throw Self.fault(in: text, "only a list's name may follow the server") }
        self.init(server: server, list: path.first, token: Self.token(in: text))
        if let list, let problem = ListName.problem(with: list) { throw Self.fault(in: text, problem) }
    }

    /// The server that a URL names, and the components of its path.
    package static func parts(of text: String) throws -> (server: Server, path: [String]) {
        guard let parts = URLComponents(string: inASCII(withoutToken(text))), let scheme = parts.scheme else {
            throw fault(in: text, "this is not a URL")
        }
        // Split by bytes: a slash and a combining mark after it are one character.
        let path = parts.path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        switch scheme.lowercased() {
        case "hand", "hands":
            guard let host = parts.host, !host.isEmpty else { throw fault(in: text, "the host is missing") }
            if let port = parts.port, port < 1 || port > 65535 { throw fault(in: text, "\(port) is not a port") }
            guard let bare = bare(host) else { throw fault(in: text, "the host is not one") }
            let port = UInt16(parts.port ?? Int(defaultPort))
            return (scheme.lowercased() == "hand" ? .tcp(host: bare, port: port) : .tls(host: bare, port: port), path)
        case "hand+unix":
            guard (parts.host ?? "").isEmpty else { throw fault(in: text, "a Unix socket has no host") }
            // The socket is the path up to the component that ends in .sock.
            guard let end = path.firstIndex(where: { $0.hasSuffix(".sock") }) else {
                throw fault(in: text, "no part of the path ends in .sock")
            }
            return (.unix(path: "/" + path[...end].joined(separator: "/")), Array(path[(end + 1)...]))
        default:
            throw fault(in: text, "the scheme '\(scheme)' is not known")
        }
    }

    /// The host without the brackets of an IPv6 address; nil if it is not a host. Foundation leaves escapes in brackets as they
    /// are; the only one allowed is `%25` before a zone.
    private static func bare(_ host: String) -> String? {
        guard host.hasPrefix("["), host.hasSuffix("]") else {
            return host.utf8.contains(UInt8(ascii: ":")) ? nil : host
        }
        let bare = host.dropFirst().dropLast().replacing("%25", with: "%")
        let rest = bare.replacing("%", with: "")
        return bare.contains(":") && rest == escaped(String(rest), keeping: ":") ? String(bare) : nil
    }

    /// The text with all non-ASCII bytes escaped. If they were left, Foundation would escape existing escapes again.
    private static func inASCII(_ text: String) -> String {
        text.utf8.map { $0 < 0x80 ? String(Unicode.Scalar($0)) : "%" + Hex.text([$0]).uppercased() }.joined()
    }

    private static func fault(in text: String, _ problem: String) -> ParseError {
        ParseError(
            description: "'\(withoutToken(text))': \(problem). Write hand://HOST:PORT/LIST, hands:// for TLS, or "
                + "hand+unix:///PATH/TO/hand.sock/LIST.")
    }

    private static func withoutToken(_ text: String) -> String {
        String(decoding: text.utf8.prefix { $0 != UInt8(ascii: "#") }, as: UTF8.self)
    }

    /// A part of a URL with everything escaped that has a meaning in URLs. Letters of all languages stay.
    package static func escaped(_ part: String, keeping kept: String = "") -> String {
        part.unicodeScalars.reduce(into: "") { url, scalar in
            let isPlain = scalar.properties.isAlphabetic || scalar.properties.numericType != nil
            if isPlain || "-._~".unicodeScalars.contains(scalar) || kept.unicodeScalars.contains(scalar) {
                url.unicodeScalars.append(scalar)
            } else {
                for byte in String(scalar).utf8 { url += "%" + Hex.text([byte]).uppercased() }
            }
        }
    }
}

extension HandAddress.Server: CustomStringConvertible {
    /// The URL of the server.
    package var description: String {
        switch self {
        case .tcp(let host, let port): "hand://\(Self.place(host, port))"
        case .tls(let host, let port): "hands://\(Self.place(host, port))"
        case .unix(let path): "hand+unix://\(HandAddress.escaped(path, keeping: "/"))"
        }
    }

    /// The place in the form that 'hand serve --listen' takes.
    package var place: String {
        switch self {
        case .tcp(let host, let port), .tls(let host, let port): Self.place(host, port)
        case .unix(let path): path
        }
    }

    /// Whether the server is certainly on this machine.
    package var isThisMachine: Bool {
        switch self {
        case .tcp(let host, _), .tls(let host, _): ["127.0.0.1", "localhost", "::1"].contains(host)
        case .unix: true
        }
    }

    private static func place(_ host: String, _ port: UInt16) -> String {
        host.utf8.contains(UInt8(ascii: ":"))
            ? "[\(HandAddress.escaped(host, keeping: ":"))]:\(port)" : "\(HandAddress.escaped(host)):\(port)"
    }
}

extension HandAddress: CustomStringConvertible {
    package var description: String { list.map { "\(server)/\($0)" } ?? "\(server)" }
}
