import FoundationEssentials
import HandWire

/// The address of a server, and optionally of a list on it: `hand://host:7777/groceries`, `hands://host:7777/groceries`
/// with TLS, `hand+unix:///run/hand.sock/groceries`. An address may name several servers with the same lists:
/// `hand://a:7777,b:7777/groceries`.
package struct HandAddress: Equatable, Sendable {
    package enum Server: Hashable, Sendable {
        /// At least one host; sorted and without duplicates, so that the same hosts in any order are the same server.
        case tcp([Host])
        /// With TLS; a server's certificate must name its host.
        case tls([Host])
        case unix(path: String)

        package static func tcp(host: String, port: UInt16) -> Server { .tcp([Host(name: host, port: port)]) }
        package static func tls(host: String, port: UInt16) -> Server { .tls([Host(name: host, port: port)]) }
    }

    package static let maxHosts = 16

    package var server: Server
    /// The list's name, in the form that clients send; nil if the address only names a server.
    package var list: String? { didSet { list = list.map(ListName.composed) } }
    /// The secret after a `#`, as in an invitation link. It is never shown.
    package var token: String?

    package static let defaultPort: UInt16 = 7777
    package static let local = HandAddress(server: .tcp(host: "127.0.0.1", port: defaultPort), list: nil)

    package init(server: Server, list: String?, token: String? = nil) {
        self.server = server
        self.list = list.map(ListName.composed)
        self.token = token
    }

    /// Returns the secret after the `#` of a URL, or nil if there is none.
    package static func token(in text: String) -> String? {
        guard let mark = text.utf8.firstIndex(of: UInt8(ascii: "#")) else { return nil }
        let token = String(text[text.utf8.index(after: mark)...])
        return token.isEmpty ? nil : token
    }

    /// What is wrong with an address, and how to write one.
    package struct ParseError: Error, Equatable, CustomStringConvertible {
        fileprivate let text: String
        fileprivate let problem: String

        package var description: String {
            "'\(text)': \(problem). Write hand://HOST:PORT/LIST, hands:// for TLS, or hand+unix:///PATH/TO/hand.sock/LIST."
        }
    }

    /// Parses an address. `/groceries` and `groceries` alone are not addresses; the command line joins them to a
    /// server.
    package init(_ text: String) throws {
        let (server, path) = try Self.parts(of: text)
        if path.count > 1 { throw Self.fault(in: text, "only a list's name may follow the server") }
        self.init(server: server, list: path.first, token: Self.token(in: text))
        if let list, let problem = ListName.problem(with: list) { throw Self.fault(in: text, problem) }
    }

    /// Returns the server of a URL, and the components of its path.
    package static func parts(of text: String) throws -> (server: Server, path: [String]) {
        let (start, places, end) = authority(of: text)
        if places.count == 1 { return try parts(ofOne: text) }
        if places.count > maxHosts {
            throw fault(in: text, "expected at most \(maxHosts) hosts, found \(places.count)")
        }
        var (hosts, isSecure, path): ([Host], Bool, [String]) = ([], false, [])
        for place in places {
            do {
                let one = try parts(ofOne: start + place + end)
                if case .unix = one.server { throw fault(in: text, "a Unix socket has no host") }
                if case .tls = one.server { isSecure = true }
                hosts += one.server.hosts
                path = one.path
            } catch let error as ParseError {
                throw fault(in: text, place.isEmpty ? error.problem : "in '\(place)', \(error.problem)")
            }
        }
        hosts.sort()
        if let twice = zip(hosts, hosts.dropFirst()).first(where: { $0 == $1 })?.0 {
            throw fault(in: text, "\(twice) occurs twice")
        }
        return (isSecure ? .tls(hosts) : .tcp(hosts), path)
    }

    /// Splits a URL into three parts: the text before the first host, the hosts with their ports, and the rest.
    private static func authority(of text: String) -> (start: String, places: [String], end: String) {
        let bytes = Array(withoutToken(text).utf8)
        let start = bytes.firstRange(of: Array("://".utf8))?.upperBound ?? bytes.count
        let end = bytes[start...].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? bytes.count
        let places = bytes[start..<end].split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        func part(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
        return (part(bytes[..<start]), places.map(part), part(bytes[end...]))
    }

    /// Returns server and path of a URL with one host.
    private static func parts(ofOne text: String) throws -> (server: Server, path: [String]) {
        guard let parts = URLComponents(string: inASCII(withoutToken(text))), let scheme = parts.scheme else {
            throw fault(in: text, "this is not a URL")
        }
        if parts.user != nil { throw fault(in: text, "an address has no user; a token follows after a '#'") }
        if parts.query != nil { throw fault(in: text, "an address has no '?'") }
        // Split by bytes: a slash and a combining mark after it are one character.
        let path = parts.path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        switch scheme.lowercased() {
        case "hand", "hands":
            guard let host = host(of: parts), !host.isEmpty else { throw fault(in: text, "the host is missing") }
            if let port = parts.port, port < 1 || port > 65535 { throw fault(in: text, "\(port) is not a port") }
            guard let bare = bare(host) else { throw fault(in: text, "this is not a host") }
            let port = UInt16(parts.port ?? Int(defaultPort))
            return (scheme.lowercased() == "hand" ? .tcp(host: bare, port: port) : .tls(host: bare, port: port), path)
        case "hand+unix":
            guard (parts.encodedHost ?? "").isEmpty else { throw fault(in: text, "a Unix socket has no host") }
            // The socket is the path up to the component that ends in .sock.
            guard let end = path.firstIndex(where: { $0.hasSuffix(".sock") }) else {
                throw fault(in: text, "no part of the path ends in .sock")
            }
            return (.unix(path: "/" + path[...end].joined(separator: "/")), Array(path[(end + 1)...]))
        default:
            throw fault(in: text, "the scheme '\(scheme)' is unknown")
        }
    }

    /// Returns the host without escapes. Foundation's own function uses tables of international domain names, which a
    /// package leaves out.
    private static func host(of parts: URLComponents) -> String? {
        guard let host = parts.encodedHost, !host.hasPrefix("[") else { return parts.encodedHost }
        var decoded = URLComponents()
        // A host has the same escapes as a path.
        decoded.percentEncodedPath = host
        return decoded.path
    }

    /// Returns the host without the brackets of an IPv6 address, or nil if the text is not a host. Foundation leaves
    /// escapes in brackets as they are; the only escape allowed there is `%25` before a zone.
    private static func bare(_ host: String) -> String? {
        guard host.hasPrefix("["), host.hasSuffix("]") else {
            return host.utf8.contains(UInt8(ascii: ":")) ? nil : host
        }
        let bare = host.dropFirst().dropLast().replacing("%25", with: "%")
        let rest = bare.replacing("%", with: "")
        return bare.contains(":") && rest == escaped(String(rest), keeping: ":") ? String(bare) : nil
    }

    /// Returns the text with escapes for all bytes that a URL cannot contain. Otherwise Foundation would escape
    /// existing escapes again, and would not take a name with a space.
    private static func inASCII(_ text: String) -> String {
        let others = Array(" \"<>\\^`{|}".utf8)
        return text.utf8.map { byte in
            let isKept = byte > 0x20 && byte < 0x7F && !others.contains(byte)
            return isKept ? String(Unicode.Scalar(byte)) : "%" + Hex.text([byte]).uppercased()
        }.joined()
    }

    private static func fault(in text: String, _ problem: String) -> ParseError {
        ParseError(text: withoutToken(text), problem: problem)
    }

    private static func withoutToken(_ text: String) -> String {
        String(decoding: text.utf8.prefix { $0 != UInt8(ascii: "#") }, as: UTF8.self)
    }

    /// Returns a part of a URL in which all characters with a meaning in URLs are escaped. Letters of all languages
    /// stay.
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

extension HandAddress: CustomStringConvertible {
    package var description: String { list.map { "\(server)/\(Self.escaped($0))" } ?? "\(server)" }
}
