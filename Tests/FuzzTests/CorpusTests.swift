import Foundation
import FuzzTargets
import HandTestSupport
import Testing

/// Inputs that the fuzzer kept, and inputs that once crashed, run through their target in each test run.
@Suite struct CorpusTests {
    private static let corpus = Project.root.appending(path: "Tests/Data/Corpus")

    @Test(arguments: FuzzTarget.allCases)
    func everyInputHolds(target: FuzzTarget) throws {
        let folder = Self.corpus.appending(path: target.rawValue)
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(files.count > 2)
        for file in files {
            let input = [UInt8](try Data(contentsOf: file))
            #expect(throws: Never.self, "\(target.rawValue)/\(file.lastPathComponent)") { try target.run(input) }
        }
    }

    @Test(arguments: FuzzTarget.allCases)
    func theEmptyInputIsAccepted(target: FuzzTarget) throws {
        try target.run([])
        try target.run(Array(repeating: 0xFF, count: 300))
    }

    @Test func eachFolderBelongsToATarget() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.path)
        #expect(Set(folders) == Set(FuzzTarget.allCases.map(\.rawValue)))
    }
}
