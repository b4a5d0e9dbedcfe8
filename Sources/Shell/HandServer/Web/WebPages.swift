import EventLoop
import HTTP
import HandWeb

/// What browsers get besides a WebSocket: the files of the page.
///
/// All files but a few have a path that names the build. So a browser never mixes the files of two builds, and may keep
/// each of them for ever.
struct WebPages {
    private var pages: [[String]: HTTPEndpoint.Page] = [:]

    /// O(bytes of all files).
    ///
    /// - Parameter isKept: whether browsers keep the page for use without a network; otherwise, they forget it.
    init(isKept: Bool) {
        let build = String(
            Fingerprint.sha256(
                PageFile.all.map { "\($0.path)\n\(String(decoding: $0.bytes, as: UTF8.self))" }.joined(separator: "\n")
            ).prefix(16))
        let modules = PageFile.all.filter { !$0.isAtRoot }
        for file in modules {
            pages[[build] + file.parts] = .init(
                file: file.served, type: file.type, caching: "public, max-age=31536000, immutable", fields: Self.fields)
        }
        for file in PageFile.all where file.isAtRoot && file.name != (isKept ? "leave.js" : "worker.js") {
            var text = String(decoding: file.bytes, as: UTF8.self).replacing("/build/", with: "/\(build)/")
            if file.name == "worker.js" {
                let paths = modules.map { "\"/\(build)/\($0.path)\"" }.joined(separator: ", ")
                text = "self.build = \"\(build)\";\nself.files = [\(paths)];\n" + text
            }
            let name = file.name == "leave.js" ? "worker.js" : file.name
            pages[name == "index.html" ? [] : [name]] = .init(
                file: Array(text.utf8), type: file.type, caching: "no-cache", fields: Self.fields)
        }
    }

    /// Pages are compressed when they are asked for, one by one, so that nobody waits for all of them.
    mutating func page(at path: [String]) -> HTTPEndpoint.Page? {
        pages[path]?.compress()
        return pages[path]
    }

    /// The page loads nothing from elsewhere, and runs only what the server has sent as a script. Texts of people
    /// cannot become scripts. No other site may show it in a frame, or hears from which page somebody comes.
    private static let fields = [
        (
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
                + "manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
                + "require-trusted-types-for 'script'; trusted-types worker"
        ), ("Referrer-Policy", "no-referrer"), ("X-Content-Type-Options", "nosniff"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ]
}

extension PageFile {
    fileprivate var parts: [String] { path.split(separator: "/").map(String.init) }
    fileprivate var name: String { parts.last ?? path }
    /// Whether the file's address is the same in all builds.
    fileprivate var isAtRoot: Bool { path.hasPrefix("root/") }

    /// The bytes without indents, empty lines, comments in lines of their own, which are half of a module, and types
    /// within lines.
    fileprivate var served: [UInt8] {
        guard path.hasSuffix(".js") || path.hasSuffix(".css") else { return bytes }
        var isInComment = false
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        let code = lines.compactMap { line -> Substring? in
            let code = line.drop { $0 == " " }
            if code.hasPrefix("/*"), !code.contains("*/") || code.hasSuffix("*/") { isInComment = true }
            let isComment = isInComment || code.hasPrefix("//")
            if isInComment, line.hasSuffix("*/") { isInComment = false }
            return isComment || code.isEmpty ? nil : code.replacing(/\/\*\* @.*?\*\/ ?/, with: "")
        }
        return Array(code.joined(separator: "\n").utf8)
    }

    fileprivate var type: String {
        switch path.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "svg": "image/svg+xml"
        case "webmanifest": "application/manifest+json"
        default: "text/javascript; charset=utf-8"
        }
    }
}
