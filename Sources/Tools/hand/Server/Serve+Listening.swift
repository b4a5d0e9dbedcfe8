import ArgumentParser
import EventLoop
import FoundationEssentials
import HandFormats
import HandServer

extension Serve {
    /// Refuses to listen where others can connect without TLS, unless the operator allows it.
    static func refuseOpen(_ endpoints: [ServerConfiguration.Endpoint]) throws {
        for endpoint in endpoints {
            let address: SocketAddress? =
                switch endpoint {
                case .tcp(let address), .web(let address): address
                case .unix: nil
                case .inherited(let descriptor, _): SocketAddress(ofSocket: descriptor)
                }
            guard let address, !address.isLoopback else { continue }
            throw Failure(
                .usage,
                "refused to listen on \(address): other machines can reach it, and without TLS the traffic can be read and changed. "
                    + "Give --tls-cert and --tls-key, or listen on 127.0.0.1 or a Unix socket, or use --insecure if the network is "
                    + "protected")
        }
    }

    static func greeting(
        _ endpoints: [ServerConfiguration.Endpoint], _ folder: String, _ status: SocketAddress?, _ tls: TLSContext?
    ) -> Printable {
        let addresses = endpoints.map { endpoint in
            switch endpoint {
            case .tcp(let address): "\(tls == nil ? "hand" : "hands")://\(address)"
            case .web(let address): "\(tls == nil ? "http" : "https")://\(address)"
            case .unix(let path): "hand+unix://\(path)"
            case .inherited(_, isWeb: false): "an inherited socket"
            case .inherited(_, isWeb: true): "an inherited socket for browsers"
            }
        }
        // The suggested command sets HAND_URL to the server's address, unless that is the address that commands use by
        // default.
        let usual = "\(HandAddress.local.server)"
        let place = endpoints.lazy.compactMap { $0.clientAddress(tls) }.first
            .map { $0 == usual ? "" : "HAND_URL=\(ShellWord.quoted($0)) " }
        let hint: Printable = place.map { "In another terminal: \($0)hand create groceries\n" } ?? ""
        let metrics: Printable = status.map { "\nMetrics: http://\($0)/metrics" } ?? ""
        return "hand serves on \(addresses.joined(separator: " and "))\nLists are kept in \(folder)\(metrics)\n"
            + "\(hint)Ctrl-C stops the server."
    }

    /// The address for links, from the settings of the server; nil if the settings leave the address at its default.
    static func sharedAddress(_ layers: ServeLayers) throws -> String? {
        let serve = try Serve.parse(layers.arguments)
        if serve.listen.isEmpty { return nil }
        let tls = try serve.encryption.context()
        if let address = try serve.listen.map(endpoint).sharedAddress(tls) { return address }
        throw Failure(
            .usage, "the server's settings do not say under which name others reach it. Give --url hands://HOST:PORT")
    }

    /// Throws if `read` cannot read one of an option's values.
    static func check(_ option: String, _ values: [String], _ read: (String) throws -> some Any) throws {
        do { for value in values { _ = try read(value) } } catch let error as ValidationError {
            throw ValidationError("--\(option): \(error.message)")
        }
    }

    static func endpoint(_ text: String) throws -> ServerConfiguration.Endpoint {
        if text.hasSuffix(".sock") {
            return .unix(text.hasPrefix("/") ? text : FileManager.default.currentDirectoryPath + "/" + text)
        }
        return .tcp(try address(text, expected: "HOST:PORT, [IPv6]:PORT or a path ending in .sock"))
    }

    static func proxies(_ text: String) throws -> AddressRange {
        if let range = AddressRange(text) { return range }
        throw ValidationError(
            "'\(text)' is not an address: expected a proxy's IP address, or a network such as 10.0.0.0/8")
    }

    static func address(_ text: String) throws -> SocketAddress {
        try address(text, expected: "HOST:PORT or [IPv6]:PORT")
    }

    private static func address(_ text: String, expected form: String) throws -> SocketAddress {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw ValidationError("'\(text)' is not an address: expected \(form)")
        }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        if host == "localhost" { host = "127.0.0.1" }
        if host.isEmpty || host == "*" { host = "0.0.0.0" }
        do { return try SocketAddress(ip: host, port: port) } catch {
            throw ValidationError(
                "'\(host)' is not an IP address: use an address of this machine, or 0.0.0.0 for all")
        }
    }
}

/// The permissions of a file, written in octal digits as for `chmod`.
struct FileMode: ExpressibleByArgument, CustomStringConvertible {
    let bits: UInt32

    init(_ bits: UInt32) { self.bits = bits }

    init?(argument: String) {
        guard let bits = UInt32(argument, radix: 8), bits <= 0o777 else { return nil }
        self.bits = bits
    }

    var description: String { String(bits, radix: 8) }
    var defaultValueDescription: String { description }
}
