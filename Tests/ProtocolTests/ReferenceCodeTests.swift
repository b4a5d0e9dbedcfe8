import Foundation
import HandFormats
import HandVectors
import Testing

/// The Python code of `Protocol.md` gives the right answers to all test vectors. Runs if there is a `python3`.
@Suite struct ReferenceCodeTests {
    private static let python = ["/usr/bin/python3", "/usr/local/bin/python3"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// Reads questions and compares the answers with the expected ones: prints a line for each difference, then their
    /// number.
    private static let harness = """
        import json, sys
        asked = 0
        for line in sys.stdin:
            v = json.loads(line)
            e = v["expect"]
            if "error" in e:
                if v["law"] == "apply" and "text: " in v["name"]:
                    asked += 1
                    try: print("fits:", line.strip(), apply(v["list"], v["delta"]))
                    except (AssertionError, UnicodeDecodeError): pass
                continue
            if v["law"] == "transform":
                found = transform(v["first"], v["second"], False), transform(v["second"], v["first"], True)
                right = found == (e["first"], e["second"])
                right &= apply(apply(v["list"], v["first"]), found[1]) == e["afterFirst"]
                right &= apply(apply(v["list"], v["second"]), found[0]) == e["afterSecond"]
                right &= superseded(v["list"], v["first"], v["second"]) == e["superseded"]
            elif v["law"] == "apply": right = apply(v["list"], v["delta"]) == e["result"]
            elif v["law"] == "compose": right = apply(v["list"], compose(v["first"], v["second"])) == e["result"]
            elif v["law"] == "invert":
                right = apply(apply(v["list"], v["delta"]), e["inverse"]) == e["result"]
                for part, back in zip(v["delta"], e["inverse"]):
                    for field in TEXTS if "edit" in part and "edit" in back and len(v["delta"]) == 1 else ():
                        right &= invert_text(part["edit"].get(field, [])) == back["edit"].get(field, [])
            elif v["law"] == "diff": right = apply(v["from"], e["delta"]) == v["to"]
            elif v["law"] == "map" and "index" in v: right = map_index(v["delta"], v["index"]) == e["index"]
            elif v["law"] == "map": right = map_gap(v["delta"], v["gap"], v["side"]) == e["gap"]
            else: continue
            asked += 1
            if not right: print("wrong:", line.strip())
        print(asked)

        """

    @Test(.enabled(if: python != nil))
    func thePythonCodeAnswersEveryVector() throws {
        let code = ProtocolPage.shared.fences(of: "python").filter(\.name.isEmpty).map {
            $0.fence.lines.joined(separator: "\n")
        }
        #expect(code.count == 4)
        let folder = FileManager.default.temporaryDirectory.appending(path: "hand-protocol-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (script, questions) = (folder.appending(path: "page.py"), folder.appending(path: "vectors.jsonl"))
        try Data((code + [Self.harness]).joined(separator: "\n\n").utf8).write(to: script)
        let lines = try (Vectors.Law.allCases.map(\.rawValue) + ["merging"]).flatMap(ProtocolPage.vectors)
        try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: questions)
        let output = try run(script, input: questions)
        #expect(!output.contains("wrong:") && !output.contains("fits:"), "\(output)")
        #expect((output.split(separator: "\n").last.flatMap { Int($0) } ?? 0) > 480, "\(output)")
    }

    private func run(_ script: URL, input: URL) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: Self.python ?? "")
        process.arguments = [script.path]
        process.standardInput = try FileHandle(forReadingFrom: input)
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return String(decoding: output, as: UTF8.self)
    }
}
