import Foundation
import Testing

/// The project's rules, checked by reading the sources.
@Suite struct ArchitectureTests {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The layers in the order of dependency; a target imports only from its own layer or a lower one.
    static let layers = ["Core", "Machines", "Web", "Shell", "Lab", "Tools", "Examples"]
    static let system: Set<String> = [
        "CBrotli", "CHTTPParser", "CLibpq", "CLibuv", "CNcurses", "COpenSSL", "CQREncode", "CSQLite", "CTOML", "CWeb",
        "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Synchronization",
    ]
    static let packages: Set<String> = ["ArgumentParser", "DequeModule", "HeapModule", "Histogram", "Logging"]

    struct Source {
        let layer: String
        let target: String
        let path: String
        let text: String

        var imports: [String] {
            text.split(separator: "\n").compactMap { line in
                let words = line.split(separator: " ")
                guard let keyword = words.firstIndex(of: "import"), keyword <= 2, keyword + 1 < words.count,
                    words[..<keyword].allSatisfy({ $0 == "internal" || $0 == "public" || $0.hasPrefix("@") })
                else { return nil }
                return words.last.map { String($0.split(separator: ".")[0]) }
            }
        }
    }

    static func sources(_ folder: String = "Sources") throws -> [Source] {
        let base = root.appendingPathComponent(folder).path
        let files = try #require(FileManager.default.enumerator(atPath: base)).compactMap { $0 as? String }
        return try files.filter { $0.hasSuffix(".swift") }.map { file in
            let parts = file.split(separator: "/").map(String.init)
            // The folder of the page is one target.
            return Source(
                layer: parts[0], target: parts[0] == "Web" ? "HandWeb" : parts[1], path: file,
                text: try String(contentsOfFile: base + "/" + file, encoding: .utf8))
        }
    }

    @Test func targetsImportOnlyDownwards() throws {
        let sources = try Self.sources()
        #expect(sources.count > 60)
        let layerOf = Dictionary(sources.map { ($0.target, $0.layer) }, uniquingKeysWith: { first, _ in first })
        for source in sources {
            let mine = try #require(Self.layers.firstIndex(of: source.layer), "\(source.path) is in no layer")
            for name in source.imports where name != "Swift" && !Self.system.union(Self.packages).contains(name) {
                let layer = try #require(layerOf[name], "\(source.path) imports \(name), which is unknown")
                let other = try #require(Self.layers.firstIndex(of: layer))
                #expect(other <= mine, "\(source.path) (\(source.layer)) imports \(name) (\(layer))")
            }
        }
    }

    @Test func onlyTheShellAccessesTheSystem() throws {
        for source in try Self.sources() {
            let imports = Set(source.imports)
            if source.target != "EventLoop" { #expect(!imports.contains("CLibuv"), "\(source.path)") }
            if source.target != "HTTP" {
                #expect(imports.isDisjoint(with: ["CBrotli", "CHTTPParser"]), "\(source.path)")
            }
            if source.target != "HandApp" { #expect(!imports.contains("CNcurses"), "\(source.path)") }
            if source.target != "EventLoop" { #expect(!imports.contains("COpenSSL"), "\(source.path)") }
            if source.target != "HandStore" { #expect(!imports.contains("CLibpq"), "\(source.path)") }
            if source.target != "Disk" { #expect(!imports.contains("CSQLite"), "\(source.path)") }
            if !["Disk", "HandStore", "HandClient", "hand-lab"].contains(source.target) {
                #expect(!source.text.contains("SQLiteConnection"), "\(source.path)")
            }
            if source.path.contains("HandLoad/Script/") {
                #expect(imports.isSubset(of: ["HandCore"]), "\(source.path)")
            }
            // All of Foundation would double the size of the program, and bring tables of all the world's calendars.
            if source.layer != "Examples" { #expect(!imports.contains("Foundation"), "\(source.path)") }
            if source.layer == "Examples" {
                let products: Set = ["HandCore", "HandSync", "HandClient", "Foundation"]
                #expect(imports.isSubset(of: products), "\(source.path)")
            }
            if source.layer == "Core" {
                #expect(imports.isDisjoint(with: Self.system.union(Self.packages)), "\(source.path)")
            }
            if source.layer == "Machines" {
                // Parsers for addresses and base 64 are needed, but no clock and no files.
                let parsers: Set<String> = source.target == "HandFormats" ? ["FoundationEssentials"] : []
                let world = Self.system.union(Self.packages).subtracting(parsers)
                #expect(imports.isDisjoint(with: world), "\(source.path)")
            }
            if source.target == "HandSimulation" {
                #expect(imports.isDisjoint(with: Self.system), "\(source.path)")
                let shell = try Self.sources().filter { $0.layer == "Shell" }
                #expect(imports.isDisjoint(with: shell.map(\.target)), "\(source.path)")
            }
            if source.target == "HandServer" { #expect(!imports.contains("HandClient"), "\(source.path)") }
            if source.target == "HandClient" { #expect(!imports.contains("HandServer"), "\(source.path)") }
        }
    }

    /// A program with a client needs libuv, OpenSSL and SQLite, and nothing that only servers use.
    @Test func aClientNeedsNoServer() throws {
        let sources = try Self.sources()
        var needed: Set = ["HandClient"]
        while true {
            let imports = Set(sources.filter { needed.contains($0.target) }.flatMap(\.imports))
            if imports.isSubset(of: needed) { break }
            needed.formUnion(imports)
        }
        let libraries: Set = ["CLibuv", "COpenSSL", "CSQLite"]
        #expect(needed.filter { $0.hasPrefix("C") && Self.system.contains($0) } == libraries)
        #expect(needed.isDisjoint(with: Self.packages.union(["HandStore", "HandServer", "Postgres"])))
    }

    /// Public declarations are visible to everybody who has the product: a public declaration cannot show a type that
    /// is not public, and types are public only in the modules of products.
    @Test func onlyProductsArePublic() throws {
        let package = try String(contentsOf: Self.root.appending(path: "Package.swift"), encoding: .utf8)
        let products = package.matches(of: #/\.library\(name: "(\w+)", targets: \[([^\]]+)\]/#).map { product in
            (name: String(product.1), targets: product.2.matches(of: #/"(\w+)"/#).map { String($0.1) })
        }
        #expect(products.map(\.name) == ["HandCore", "HandSync", "HandClient"])
        let exported = Set(products.flatMap(\.targets))
        for source in try Self.sources() {
            let isPublic = source.text.utf8.split(separator: UInt8(ascii: "\n")).contains { line in
                let words = line.split(separator: UInt8(ascii: " ")).drop { $0.first == UInt8(ascii: "@") }
                return words.first?.elementsEqual("public".utf8) == true
                    || words.starts(with: ["open", "class"].map(\.utf8)) { $0.elementsEqual($1) }
            }
            #expect(!isPublic || exported.contains(source.target), "\(source.path) has public declarations")
            guard isPublic, let product = products.first(where: { $0.targets.contains(source.target) }) else {
                continue
            }
            let others = Self.packages.union(Self.system).subtracting(["FoundationEssentials"])
            #expect(others.isDisjoint(with: source.imports), "\(source.path) shows types outside of \(product.name)")
        }
    }

    /// The tests are built like the release; `package` gives them access to internals.
    @Test func testsNeedNoDebugBuild() throws {
        let tests = Self.root.appending(path: "Tests")
        let files = try #require(FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil))
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(!text.split(separator: "\n").contains { $0.hasPrefix("@testable") }, "\(file.path)")
        }
    }

    /// The formatter does not look at comments.
    @Test func commentsFitTheWidthOfTheCode() throws {
        for source in try Self.sources() {
            for line in source.text.split(separator: "\n") where line.count > 120 {
                #expect(!line.trimmingPrefix(while: \.isWhitespace).hasPrefix("//"), "\(source.path): \(line)")
            }
        }
    }

    /// No formatter looks at JavaScript.
    @Test func scriptsFitTheWidthOfTheCode() throws {
        var count = 0
        for folder in ["Sources", "Tests"] {
            let root = Self.root.appending(path: folder)
            let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
            for case let file as URL in files where ["js", "mjs"].contains(file.pathExtension) {
                count += 1
                let text = try String(contentsOf: file, encoding: .utf8)
                for line in text.split(separator: "\n") where line.count > 120 {
                    Issue.record("\(file.path): \(line)")
                }
            }
        }
        #expect(count > 100)
    }

    /// A planted bug whose place has changed could no longer be planted. Its surroundings may change.
    @Test func linesRemovedByMutantsExist() throws {
        let folder = Self.root.appending(path: "Tests/Data/Mutants")
        let patches = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        for patch in patches where patch.pathExtension == "patch" {
            var source = ""
            for line in try String(contentsOf: patch, encoding: .utf8).split(separator: "\n") {
                if line.hasPrefix("--- a/") {
                    source = try String(contentsOf: Self.root.appending(path: line.dropFirst(6)), encoding: .utf8)
                } else if line.hasPrefix("-"), !source.isEmpty {
                    #expect(source.contains(line.dropFirst() + "\n"), "\(patch.lastPathComponent)")
                }
            }
            #expect(!source.isEmpty, "\(patch.lastPathComponent) names no file")
        }
    }

    /// A planted fault: the reader of import lines must recognize every form of them.
    @Test func everyFormOfImportIsRecognized() {
        let text = "import A\ninternal import B\n@testable import C\nimport struct D.E\n// import F\nlet important = 1"
        #expect(Source(layer: "", target: "", path: "", text: text).imports == ["A", "B", "C", "D"])
    }

    @Test func unsafeDeclarationsExplainTheirSafety() throws {
        for source in try Self.sources() {
            let lines = source.text.split(separator: "\n", omittingEmptySubsequences: false)
            for (index, line) in lines.enumerated() where line.contains(": @unchecked Sendable") {
                let above = lines[max(0, index - 8)..<index].joined().lowercased()
                #expect(above.contains("safe"), "\(source.path):\(index + 1)")
            }
            for mark in ["// TODO", "FIXME", "// XXX"] {
                #expect(!source.text.contains(mark), "\(source.path): \(mark)")
            }
        }
    }

    /// An operator can set every limit.
    @Test func everyLimitIsAnOption() throws {
        let sources = try Self.sources()
        let limits = try #require(sources.first { $0.path.hasSuffix("HandWire/Limits.swift") }).text
        let options = try #require(sources.first { $0.path.hasSuffix("LimitOptions.swift") }).text
        let names = limits.matches(of: #/    public var ([a-zA-Z]+)/#).map(\.1)
        #expect(names.count > 25)
        for name in names { #expect(options.contains("\\.\(name),"), "\(name)") }
    }

    /// If a command's name follows from its type, each start searches all conformances of the program: for 41 commands,
    /// that took 10 of 38 ms.
    @Test func everyCommandSaysItsName() throws {
        let sources = try Self.sources().filter { $0.layer == "Tools" }
        let commands = sources.flatMap { source in
            source.text.matches(of: /CommandConfiguration\(\s*(\w+):/).map { (source.path, $0.1) }
        }
        #expect(commands.count > 60)
        for (path, label) in commands { #expect(label == "commandName", "\(path)") }
    }

    /// The map of the tests names every folder, and no other.
    @Test func theMapOfTheTestsIsComplete() throws {
        let tests = Self.root.appending(path: "Tests")
        let map = try String(contentsOf: tests.appending(path: "README.md"), encoding: .utf8)
        let named = map.split(separator: "\n").filter { $0.hasPrefix("| `") }.flatMap { row in
            row.split(separator: "|")[0].matches(of: #/`([A-Za-z\/]+)`/#).map { String($0.1) }
        }
        let groups = ["Support", "Programs", "Data"]
        var found = try FileManager.default.contentsOfDirectory(atPath: tests.path)
            .filter { !groups.contains($0) && $0 != "README.md" }
        for group in groups {
            found += try FileManager.default.contentsOfDirectory(atPath: tests.path + "/" + group).map {
                "\(group)/\($0)"
            }
        }
        #expect(named.sorted() == found.sorted())
    }

    @Test func theTopLevelHasOnlyAgreedEntries() throws {
        let allowed: Set<String> = ["Package.swift", "Sources", "Tests", "Protocol.md", "README.md"]
        let found = try FileManager.default.contentsOfDirectory(atPath: Self.root.path)
            .filter { !$0.hasPrefix(".") && $0 != "Package.resolved" }
        #expect(Set(found).subtracting(allowed).isEmpty)
    }
}
