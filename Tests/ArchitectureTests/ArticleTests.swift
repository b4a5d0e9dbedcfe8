import Foundation
import Testing

/// The articles, in the pages that docc makes of them.
@Suite struct ArticleTests {
    private static func catalogues() throws -> [(module: String, path: String)] {
        let files = try #require(FileManager.default.enumerator(atPath: ArchitectureTests.root.path + "/Sources"))
        return files.compactMap { $0 as? String }.filter { $0.hasSuffix(".docc") }.sorted().map {
            (
                URL(filePath: $0).deletingPathExtension().lastPathComponent,
                "\(ArchitectureTests.root.path)/Sources/\($0)"
            )
        }
    }

    /// All named symbols and articles exist, and every article is listed on its catalogue's first page.
    @Test func everyNameIsKnown() throws {
        let catalogues = try Self.catalogues()
        #expect(Set(catalogues.map(\.module)) == ["HandCore", "HandSync", "HandClient", "hand"])
        for (module, path) in catalogues {
            let text = try SymbolGraph.extracted(of: module) { folder in
                let (status, text) = try SymbolGraph.run(
                    [
                        "docc", "convert", path, "--additional-symbol-graph-dir", folder, "--fallback-display-name",
                        module,
                        "--fallback-bundle-identifier", module, "--output-path", folder + "/pages",
                    ])
                #expect(status == 0, "\(text)")
                return text
            }
            // If a function's parameters explain themselves, only the others are documented.
            let problems = text.split(separator: "\n").filter {
                $0.hasPrefix("warning:") || $0.hasPrefix("error:")
            }.filter { !$0.hasSuffix("is missing documentation") }
            #expect(problems.isEmpty, "\(module): \(text)")
            let first = try String(contentsOfFile: "\(path)/\(module).md", encoding: .utf8)
            for file in try FileManager.default.contentsOfDirectory(atPath: path) where file != "\(module).md" {
                #expect(first.contains("- <doc:\(file.dropLast(3))>"), "\(module).md does not list \(file)")
            }
        }
    }
}
