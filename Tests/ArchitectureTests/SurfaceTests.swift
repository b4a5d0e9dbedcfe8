import Foundation
import Testing

/// The public declarations of the products, compared with the earlier ones.
///
/// If a declaration disappears or changes, programs that use it break: that requires a higher first version number (or
/// second, below 1.0). Then `HAND_WRITE_SURFACE=1` rewrites the lists.
@Suite struct SurfaceTests {
    /// Returns the public declarations of a module, one per line, as the compiler describes them.
    private static func surface(of module: String) throws -> [String] {
        try SymbolGraph(of: module).symbols
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
        let file = "\(ArchitectureTests.root.path)/Tests/Data/Surface/\(module).txt"
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
