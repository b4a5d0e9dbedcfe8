internal import CHTTPParser

/// The head of a request: what stands before the body. Parsed with Debian's http-parser, only in this file.
struct HTTPHead {
    private(set) var method = ""
    private(set) var target = ""
    /// Whether the client understands HTTP/1.1.
    private(set) var isVersion11 = false
    /// Whether the client wants to go on in another protocol.
    private(set) var isUpgrade = false
    /// The fields in their order, with names in lower case.
    private(set) var fields: [(name: String, value: String)] = []

    /// Why a request is refused.
    struct Refusal: Error, Equatable {
        let status: String
        let reason: String

        static func bad(_ reason: String) -> Refusal { Refusal(status: "400 Bad Request", reason: reason) }
    }

    /// The most bytes of a head.
    static let maxBytes = 8_192

    /// Parses a whole head, up to and with its empty line. O(bytes).
    ///
    /// - Throws: the reason why the request is refused: it is malformed, or has what programs read in different ways.
    init(_ bytes: [UInt8]) throws(Refusal) {
        let collector = Collector()
        var parser = http_parser()
        http_parser_init(&parser, HTTP_REQUEST)
        parser.data = Unmanaged.passUnretained(collector).toOpaque()
        var settings = Collector.settings
        let count = withExtendedLifetime(collector) {
            bytes.withUnsafeBytes {
                http_parser_execute(&parser, &settings, $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)
            }
        }
        guard parser.http_errno == HPE_OK.rawValue, count == bytes.count, collector.isComplete else {
            throw .bad("this is not a request of HTTP/1.1")
        }
        method = String(cString: http_method_str(http_method(UInt32(parser.method))))
        target = collector.target
        isVersion11 = (parser.http_major, parser.http_minor) == (1, 1)
        isUpgrade = parser.upgrade != 0
        fields = collector.fields.map { ($0.name.lowercased(), $0.value) }
        try check(bytes)
    }

    /// Refuses what a proxy in front of the server may read in another way than the server, and bodies.
    private func check(_ bytes: [UInt8]) throws(Refusal) {
        for (end, next) in zip(bytes, bytes.dropFirst()) where end == 0x0A && (next == 0x20 || next == 0x09) {
            throw .bad("a field of the head is folded onto a second line")
        }
        if fields.contains(where: { $0.name.contains { $0 == " " || $0 == "\t" } }) {
            throw .bad("the name of a field has a space")
        }
        for name in ["host", "origin"] where values(of: name).count > 1 {
            throw .bad("the request names two \(name)s")
        }
        if !values(of: "transfer-encoding").isEmpty || values(of: "content-length").contains(where: { $0 != "0" }) {
            throw Refusal(status: "413 Content Too Large", reason: "requests have no body here")
        }
    }

    func values(of name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// The words of a field that is a list, in lower case, whether it stands once or several times.
    func words(of name: String) -> [String] {
        values(of: name).flatMap { $0.split(separator: ",") }.map {
            $0.lowercased().split { $0 == " " || $0 == "\t" }.joined(separator: " ")
        }
    }
}

/// Collects what http-parser finds.
private final class Collector {
    var target = ""
    var fields: [(name: String, value: String)] = []
    var isComplete = false
    /// Whether a name is being read, and not a value.
    private var isInName = false

    static let settings: http_parser_settings = {
        var settings = http_parser_settings()
        http_parser_settings_init(&settings)
        settings.on_url = { parser, text, count in
            Collector.of(parser).target += Collector.text(text, count)
            return 0
        }
        settings.on_header_field = { parser, text, count in
            Collector.of(parser).add(name: Collector.text(text, count))
            return 0
        }
        settings.on_header_value = { parser, text, count in
            Collector.of(parser).add(value: Collector.text(text, count))
            return 0
        }
        settings.on_headers_complete = { parser in
            Collector.of(parser).isComplete = true
            return 0
        }
        return settings
    }()

    private func add(name: String) {
        if isInName {
            fields[fields.count - 1].name += name
        } else {
            fields.append((name, ""))
        }
        isInName = true
    }

    private func add(value: String) {
        isInName = false
        fields[fields.count - 1].value += value
    }

    private static func of(_ parser: UnsafeMutablePointer<http_parser>?) -> Collector {
        guard let data = parser?.pointee.data else { preconditionFailure("the parser has lost its collector") }
        return Unmanaged<Collector>.fromOpaque(data).takeUnretainedValue()
    }

    private static func text(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    }
}
