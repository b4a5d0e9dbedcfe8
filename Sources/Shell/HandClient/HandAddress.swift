import Foundation
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
        func fail(_ problem: String) -> ParseError {
            ParseError(
                description:
                    "'\(text)': \(problem). Write hand://HOST:PORT/LIST or hand+unix:///PATH/TO/hand.sock/LIST.")
        }
        guard let parts = URLComponents(string: text), let scheme = parts.scheme else {
            throw fail("this is not a URL")
        }
        switch scheme.lowercased() {
        case "hand":
            guard let host = parts.host, !host.isEmpty else { throw fail("the host is missing") }
            if let port = parts.port, port < 1 || port > 65535 { throw fail("\(port) is not a port") }
            let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
            server = .tcp(host: bare, port: UInt16(parts.port ?? Int(Self.defaultPort)))
            let path = parts.path.split(separator: "/", omittingEmptySubsequences: true)
            if path.count > 1 { throw fail("only a list's name may follow the host") }
            list = path.first.map(String.init)
        case "hand+unix":
            guard (parts.host ?? "").isEmpty else { throw fail("a Unix socket has no host") }
            (server, list) = try Self.socket(parts.path) ?? { throw fail("no part of the path ends in .sock") }()
        default:
            throw fail("the scheme '\(scheme)' is not known")
        }
        if let list, let problem = ListName.problem(with: list) { throw fail(problem) }
    }

    /// The socket is the part of the path up to the component that ends in `.sock`; a list's name may follow.
    private static func socket(_ path: String) throws -> (Server, String?)? {
        let components = path.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
        guard let end = components.firstIndex(where: { $0.hasSuffix(".sock") }), components.count - end <= 2 else {
            return nil
        }
        let list = end + 1 < components.count ? components[end + 1] : nil
        return (.unix(path: "/" + components[...end].joined(separator: "/")), list)
    }

    /// The address without a list.
    public var serverURL: String {
        switch server {
        case .tcp(let host, let port): "hand://\(host.contains(":") ? "[\(host)]" : host):\(port)"
        case .unix(let path): "hand+unix://\(path)"
        }
    }
}

extension HandAddress: CustomStringConvertible {
    public var description: String { list.map { "\(serverURL)/\($0)" } ?? serverURL }
}
