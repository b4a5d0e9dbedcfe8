import Foundation
import HandCore
import HandFormats
import HandSimulation
import HandTestSupport
import HandVectors
import Testing

/// Serialized, because the first test may write the files that the others read.
@Suite(.serialized) struct VectorsTests {
    /// The lines of a law's file in `Tests/Data/Vectors`, which this suite may write.
    private static func lines(of law: Vectors.Law) throws -> [String] {
        try String(contentsOf: file(of: law), encoding: .utf8).split(separator: "\n").map(String.init)
    }

    private static func file(of law: Vectors.Law) -> URL {
        Project.root.appending(path: "Tests/Data/Vectors/\(law.rawValue).jsonl")
    }

    private static func allLines() throws -> [String] { try Vectors.Law.allCases.flatMap(lines) }

    /// Every vector holds, and every law has many. `HAND_WRITE_VECTORS=1` writes the answers of this program into the
    /// files.
    @Test(arguments: Vectors.Law.allCases)
    func everyVectorHolds(law: Vectors.Law) throws {
        var lines = try Self.lines(of: law)
        if ProcessInfo.processInfo.environment["HAND_WRITE_VECTORS"] != nil {
            lines = try lines.map { line in
                guard case .object(var members) = try JSONValue.parse(line) else { throw Planted.noVector(line) }
                members.removeAll { $0.key == "expect" }
                let answer = try JSONValue.parse(Vectors.answer(line: line))
                return JSONValue.object(members + [.init("expect", answer)]).line
            }
            try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: Self.file(of: law))
        }
        #expect(lines.count >= (law == .machine ? 40 : 60))
        for line in lines {
            #expect(Vectors.mismatch(in: line) == nil)
            #expect(try JSONValue.parse(line)["law"] == .string(law.rawValue), "\(line)")
        }
    }

    /// The names of named vectors show whether they are errors; random vectors never are.
    @Test func errorsAreWhereTheyShouldBe() throws {
        for line in try Self.allLines() {
            let vector = try JSONValue.parse(line)
            var isError = false
            if case .string(let name) = vector["name"] { isError = name.hasPrefix("error: ") }
            #expect((vector["expect"]?["error"] != nil) == isError, "\(line)")
        }
    }

    @Test func aPlantedExpectationIsNoticed() throws {
        for line in try Self.allLines() {
            guard case .object(var members) = try JSONValue.parse(line),
                case .object(var expected) = members.last?.value
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

    // MARK: The answers compared with a direct implementation of the laws

    @Test(arguments: Vectors.Law.allCases)
    func theAnswersAreTheOracles(law: Vectors.Law) throws {
        for line in try Self.lines(of: law) {
            let vector = JSONField(try JSONValue.parse(line))
            let answer = vector["expect"]
            if answer["error"].isPresent { continue }
            switch law {
            case .apply: #expect(try items(answer["result"]) == outcome(vector["delta"], vector["list"]), "\(line)")
            case .transform:
                let list = try items(vector["list"])
                let merged = NaiveView.merge(
                    earlier: NaiveView(try delta(vector["first"]), count: list.count),
                    later: NaiveView(try delta(vector["second"]), count: list.count), on: list)
                #expect(try items(answer["afterFirst"]) == merged.outcome(on: list), "\(line)")
                #expect(try items(answer["afterSecond"]) == merged.outcome(on: list), "\(line)")
            case .compose:
                let middle = try NaiveList(outcome(vector["first"], vector["list"]))
                #expect(try items(answer["result"]) == middle.applying(delta(vector["second"])).items, "\(line)")
                #expect(try items(answer["result"]) == outcome(answer["delta"], vector["list"]), "\(line)")
            case .invert: #expect(answer["result"].value == vector["list"].value, "\(line)")
            case .diff: #expect(try items(vector["to"]) == outcome(answer["delta"], vector["from"]), "\(line)")
            case .digest:
                // Horner's rule, one item after the other.
                let digest = try items(vector["list"]).reduce(UInt64(0)) {
                    Digest.add(Digest.multiply($0, Digest.base), $1.hash)
                }
                #expect(answer["digest"].value == .string(Hex.text(digest)), "\(line)")
            case .codec, .map, .machine: break
            }
        }
    }

    private func items(_ field: JSONField) throws -> [Item] {
        try field.list(JSON.item(from:))
    }

    private func delta(_ field: JSONField) throws -> Delta {
        try JSON.delta(from: field)
    }

    private func outcome(_ delta: JSONField, _ list: JSONField) throws -> [Item] {
        try NaiveList(items(list)).applying(self.delta(delta)).items
    }

    /// What one vector encodes, the next one decodes.
    @Test func valuesAndBytesGoBothWays() throws {
        let lines = try Self.lines(of: .codec)
        var pairs = 0
        for (line, next) in zip(lines, lines.dropFirst()) {
            let (encode, decode) = (try JSONValue.parse(line), try JSONValue.parse(next))
            guard case .string(let type) = decode["type"], let value = encode[type] else { continue }
            #expect(encode["expect"]?["hex"] == decode["hex"])
            #expect(decode["expect"]?[type] == value)
            pairs += 1
        }
        #expect(pairs >= 60)
    }

    @Test(arguments: [
        ("", #"{"error":"byte 1: expected a JSON value, found the end"}"#),
        ("[]", #"{"error":"expected a question, found []"}"#),
        ("{}", #"{"error":"law: expected the name of a law, found nothing"}"#),
        (
            #"{"law":"x"}"#,
            #"{"error":"law: expected one of codec, apply, transform, compose, invert, diff, digest, map, machine, found \"x\""}"#
        ),
        (
            #"{"law":"apply","list":[],"delta":[{"delete":1}]}"#,
            #"{"law":"apply","error":"delta: expected a delta that fits a list of 0, found one that reaches to item 1"}"#
        ),
        (
            #"{"law":"digest","list":[],"expect":{"wrong":1}}"#,
            #"{"law":"digest","digest":"0000000000000000","hashes":[]}"#
        ),
    ])
    func eachQuestionHasItsAnswer(question: String, answer: String) {
        #expect(Vectors.answer(line: question) == answer)
    }

    /// Every question, damaged in any way, has an answer on one line.
    @Test func damagedQuestionsAreAnswered() throws {
        var random = SplitMix64(seed: testSeed(64))
        for line in try Self.allLines() {
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
