import Foundation
import HandCore
import HandFormats
import HandTestSupport
import Testing

@Suite struct VectorsTests {
    /// `Tests/Vectors`.
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Vectors")

    private static let files = Vectors.generate(seed: Vectors.seed)

    /// The committed files are what the generator writes. `HAND_WRITE_VECTORS=1` writes them.
    @Test func theFilesAreGenerated() throws {
        for (file, lines) in Self.files {
            let url = Self.folder.appending(path: file)
            let text = lines.map { $0 + "\n" }.joined()
            if ProcessInfo.processInfo.environment["HAND_WRITE_VECTORS"] != nil {
                try Data(text.utf8).write(to: url)
            }
            #expect(try Data(contentsOf: url) == Data(text.utf8), "\(file) is not what the generator writes")
        }
        #expect(Self.files.map(\.lines.count).reduce(0, +) > 500)
    }

    @Test(arguments: Vectors.Law.allCases)
    func everyVectorHolds(law: Vectors.Law) throws {
        let text = try String(contentsOf: Self.folder.appending(path: "\(law.rawValue).jsonl"), encoding: .utf8)
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.count >= 60)
        for line in lines { #expect(Vectors.mismatch(in: line) == nil) }
    }

    /// Named vectors say by their names whether they are errors; random ones never are.
    @Test func errorsAreWhereTheyShouldBe() throws {
        for line in Self.files.flatMap(\.lines) {
            let vector = try JSONValue.parse(line)
            var isError = false
            if case .string(let name) = vector["name"] { isError = name.hasPrefix("error: ") }
            #expect((vector["expect"]?["error"] != nil) == isError, "\(line)")
        }
    }

    @Test func aPlantedExpectationIsNoticed() throws {
        for line in Self.files.flatMap(\.lines) {
            guard case .object(var members) = try JSONValue.parse(line), case .object(var expected) = members.last?.value
            else { throw Planted.noVector(line) }
            let last = expected.count - 1
            expected[last].value = expected[last].value == "planted" ? "other" : "planted"
            members[members.count - 1].value = .object(expected)
            #expect(Vectors.mismatch(in: JSONValue.object(members).line) != nil)
        }
        #expect(Vectors.mismatch(in: #"{"law":"digest","list":[]}"#) == "expect: expected an answer, found nothing")
        #expect(Vectors.mismatch(in: "") != nil)
    }

    private enum Planted: Error {
        case noVector(String)
    }

    /// The diamond closes, and a composition and an inverse do what they say, in every vector.
    @Test func theAnswersKeepTheLaws() throws {
        for (file, lines) in Self.files {
            for line in lines {
                let vector = try JSONValue.parse(line)
                guard let answer = vector["expect"], answer["error"] == nil else { continue }
                switch file {
                case "transform.jsonl": #expect(answer["afterFirst"] == answer["afterSecond"])
                case "invert.jsonl": #expect(answer["result"] == vector["list"])
                case "diff.jsonl":
                    guard let from = vector["from"], let delta = answer["delta"] else { continue }
                    let question: JSONValue = ["law": "apply", "list": from, "delta": delta]
                    #expect(try JSONValue.parse(Vectors.answer(line: question.line))["result"] == vector["to"])
                default: break
                }
            }
        }
    }

    @Test func anotherSeedGivesOtherVectors() {
        let others = Vectors.generate(seed: 1)
        #expect(others.map(\.file) == Self.files.map(\.file))
        #expect(others.map(\.lines) != Self.files.map(\.lines))
        #expect(Vectors.generate(seed: 1).map(\.lines) == others.map(\.lines))
    }

    @Test(arguments: [
        ("", #"{"error":"byte 1: expected a JSON value, found the end"}"#),
        ("[]", #"{"error":"expected a question, found []"}"#),
        ("{}", #"{"error":"law: expected the name of a law, found nothing"}"#),
        (
            #"{"law":"x"}"#,
            #"{"error":"law: expected one of codec, apply, transform, compose, invert, diff, digest, map, found \"x\""}"#
        ),
        (
            #"{"law":"apply","list":[],"delta":[{"delete":1}]}"#,
            #"{"law":"apply","error":"delta: expected a delta that fits a list of 0, found one that reaches to item 1"}"#
        ),
        (#"{"law":"digest","list":[],"expect":{"wrong":1}}"#, #"{"law":"digest","digest":"0000000000000000","hashes":[]}"#),
    ])
    func answers(question: String, answer: String) {
        #expect(Vectors.answer(line: question) == answer)
    }

    /// Every question, damaged in any way, has an answer on one line.
    @Test func damagedQuestionsAreAnswered() throws {
        var random = SplitMix64(seed: testSeed(64))
        for line in Self.files.flatMap(\.lines) {
            for _ in 0..<4 {
                var bytes = Array(line.utf8)
                for _ in 0..<(1 + random.next(below: 4)) {
                    let index = random.next(below: bytes.count)
                    let digit = UInt8(ascii: "0") + UInt8(random.next(below: 10))
                    switch random.next(below: 3) {
                    case 0: bytes[index] = digit
                    case 1: bytes.remove(at: index)
                    default: bytes.insert(digit, at: index)
                    }
                }
                let answer = Vectors.answer(line: String(decoding: bytes, as: UTF8.self))
                #expect(!answer.utf8.contains(UInt8(ascii: "\n")))
                #expect(throws: Never.self) { try JSONValue.parse(answer) }
            }
        }
    }
}
