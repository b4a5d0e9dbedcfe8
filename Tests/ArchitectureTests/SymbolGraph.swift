import Foundation
import Testing

/// The declarations of a built module, as `swift symbolgraph-extract` writes them.
struct SymbolGraph: Decodable {
    struct Symbol: Decodable {
        struct Identifier: Decodable {
            let precise: String
        }

        struct Fragment: Decodable {
            let spelling: String
        }

        let identifier: Identifier
        let pathComponents: [String]
        let declarationFragments: [Fragment]?
    }

    let symbols: [Symbol]

    #if arch(arm64)
        private static let architecture = "aarch64"
    #else
        private static let architecture = "x86_64"
    #endif

    /// Writes the graph of a module's public declarations into a temporary folder.
    static func extracted<Result>(of module: String, _ body: (_ folder: String) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.path + "/hand-symbols-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let root = ArchitectureTests.root.path
        let products = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        let scratch = products.deletingLastPathComponent().deletingLastPathComponent().path
        let built = products.path
        let own = ["CBrotli", "CHTTPParser", "CLibuv", "COpenSSL", "CSQLite", "CNcurses", "CQREncode"].map {
            "Sources/Shell/\($0)"
        }
        let includes =
            ["Modules", "CLibpq.build", "CTOML.build", "CWeb.build"].map { "\(built)/\($0)" }
            + own.map { "\(root)/\($0)" } + ["\(scratch)/checkouts/swift-numerics/Sources/_NumericsShims/include"]
        let (status, text) = try run(
            ["swift", "symbolgraph-extract", "-module-name", module, "-target", "\(architecture)-unknown-linux-gnu"]
                + includes.flatMap { ["-I", $0] } + ["-output-dir", folder, "-minimum-access-level", "public"])
        try #require(status == 0, "\(text)")
        return try body(folder)
    }

    init(of module: String) throws {
        self = try Self.extracted(of: module) { folder in
            let data = try Data(contentsOf: URL(filePath: "\(folder)/\(module).symbols.json"))
            return try JSONDecoder().decode(SymbolGraph.self, from: data)
        }
    }

    /// Runs a command to its end. Returns its output, errors included.
    static func run(_ arguments: [String]) throws -> (status: Int32, text: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }
}
