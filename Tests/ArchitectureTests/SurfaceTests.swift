import Foundation
import Testing

/// What programs of others see of the products, compared with what they saw before.
///
/// A declaration that is gone, or is another one, breaks those programs: it needs a version with a higher first number (or second,
/// below 1.0). Then `HAND_WRITE_SURFACE=1` writes the lists anew.
@Suite struct SurfaceTests {
    private struct Graph: Decodable {
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
    }

    private static let root = ArchitectureTests.root.path

    #if arch(arm64)
        private static let architecture = "aarch64"
    #else
        private static let architecture = "x86_64"
    #endif

    /// The public declarations of a module, one a line, as the compiler describes them.
    private static func surface(of module: String) throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.path + "/hand-surface-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let built = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path
        let libraries = ["CLibuv", "COpenSSL", "CLibpq", "CNcurses"].map { "\(root)/Sources/Shell/\($0)" }
        let includes = [built + "/Modules"] + libraries + ["\(root)/.build/checkouts/GRDB.swift/Sources/GRDBSQLite"]
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            ["swift", "symbolgraph-extract", "-module-name", module, "-target", "\(architecture)-unknown-linux-gnu"]
            + includes.flatMap { ["-I", $0] } + ["-Xcc", "-I/usr/include/postgresql"]
            + ["-output-dir", folder, "-minimum-access-level", "public"]
        let errors = Pipe()
        process.standardError = errors
        try process.run()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(text)")
        let data = try Data(contentsOf: URL(filePath: "\(folder)/\(module).symbols.json"))
        return try JSONDecoder().decode(Graph.self, from: data).symbols
            .filter { !$0.identifier.precise.contains("::SYNTHESIZED::") }
            .map { symbol in
                let words = (symbol.declarationFragments ?? []).map(\.spelling).joined()
                let line = words.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                return "\(symbol.pathComponents.joined(separator: ".")): \(line)"
            }.sorted()
    }

    @Test(arguments: ["HandCore", "HandWire", "HandSync", "HandClient"]) func nothingPublicDisappears(module: String)
        throws
    {
        let file = "\(Self.root)/Tests/Data/Surface/\(module).txt"
        let now = try Self.surface(of: module)
        #expect(now.count > 20)
        if ProcessInfo.processInfo.environment["HAND_WRITE_SURFACE"] == "1" {
            try now.joined(separator: "\n").appending("\n").write(toFile: file, atomically: true, encoding: .utf8)
        }
        let before = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init)
        let gone = Set(before).subtracting(now)
        #expect(gone.isEmpty, "no longer there: \(gone.sorted().joined(separator: "\n"))")
        let fresh = Set(now).subtracting(before)
        #expect(fresh.isEmpty, "new, so add it to \(file): \(fresh.sorted().joined(separator: "\n"))")
    }
}
