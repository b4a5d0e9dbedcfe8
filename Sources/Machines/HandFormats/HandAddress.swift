import FoundationEssentials
import HandWire

/// Where a server is, and which list on it: `hand://host:7777/groceries`, `hand+unix:///run/hand.sock/groceries`.
public struct HandAddress: Equatable, Sendable {
    public enum Server: Hashable, Sendable {
        case tcp(host: String, port: UInt16)
        case unix(path: String)
    }

    public var server: Server
    /// The list's name; nil if the address names a server only.
    public var list: String?

    public static let defaultPort: UInt16 = 7777
    public static let local = HandAddress(server: .tcp(host: "127.0.0.1", port: defaultPort), list: nil)

    public init(server: Server, list: String?) {
        self.server = server
        self.list = list
    }

    /// What is wrong with the text of an address, and what is right.
    public struct ParseError: Error, Equatable, CustomStringConvertible {
        public let description: String
    }

    /// Reads an address. `/groceries` and `groceries` alone are not addresses; the command line joins them to one.
    public init(_ text: String) throws {
        let (server, path) = try Self.parts(of: text)
        if path.count > 1 { throw Self.fault(in: text, "only a list's name may follow the server") }
        self.init(server: server, list: path.first)
        if let list, let problem = ListName.problem(with: list) { throw Self.fault(in: text, problem) }
    }

    /// The server that a URL names, and the components of the path behind it.
    public static func parts(of text: String) throws -> (server: Server, path: [String]) {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme else {
            throw fault(in: text, "this is not a URL")
        }
        let path = parts.path.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
        switch scheme.lowercased() {
        case "hand":
            guard let host = parts.host, !host.isEmpty else { throw fault(in: text, "the host is missing") }
            if let port = parts.port, port < 1 || port > 65535 { throw fault(in: text, "\(port) is not a port") }
            let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
            return (.tcp(host: bare, port: UInt16(parts.port ?? Int(defaultPort))), path)
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

    private static func fault(in text: String, _ problem: String) -> ParseError {
        ParseError(
            description: "'\(text)': \(problem). Write hand://HOST:PORT/LIST or hand+unix:///PATH/TO/hand.sock/LIST.")
    }

    /// The address without a list.
    public var serverURL: String { server.description }
}

extension HandAddress.Server: CustomStringConvertible {
    /// The URL of the server.
    public var description: String {
        switch self {
        case .tcp(let host, let port): "hand://\(host.contains(":") ? "[\(host)]" : host):\(port)"
        case .unix(let path): "hand+unix://\(path)"
        }
    }
}

extension HandAddress: CustomStringConvertible {
    public var description: String { list.map { "\(serverURL)/\($0)" } ?? serverURL }
}
