import Foundation
import Testing

/// What programs of others see of the products, compared with what they saw before.
///
/// A declaration that is gone, or is another one, breaks those programs: it needs a version with a higher first number (or second,
/// below 1.0). Then `HAND_WRITE_SURFACE=1` writes the lists anew.
@Suite struct SurfaceTests {
    /// The public declarations of a module, one a line, as the compiler describes them.
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
