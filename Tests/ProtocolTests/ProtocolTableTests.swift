import Foundation
import HandCore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// The tables of limits, errors and rejections in `Protocol.md` agree with the code.
@Suite struct ProtocolTableTests {
    private let page = ProtocolPage.shared

    @Test func errorsAgreeWithTheirTable() {
        let rows = page.table("number", under: "Errors")
        func word(_ value: Bool) -> String { value ? "yes" : "no" }
        let expected = ErrorCode.allCases.map {
            ["\($0.rawValue)", "\($0)", word($0.closes), word($0.mayRetry)]
        }
        #expect(rows.map { [$0[0], $0[1]] + $0[3...] } == expected)
        #expect(rows.allSatisfy { !$0[2].isEmpty })
    }

    /// The example of the server with which all clients of a list begin.
    @Test func theExampleOfTheHomeServer() throws {
        let text = page.lines.joined(separator: " ")
        let example = try #require(text.firstMatch(of: #/`(\w+)` among (\d+) hosts begins with index (\d+)\./#))
        let hosts = try #require(Int(example.2))
        #expect(ServerRound.home(of: String(example.1), among: hosts) == Int(example.3))
    }

    /// One sample of each reason; a new reason does not compile in `details(of:)` until it is described.
    private let rejections: [Rejection] = [
        .violation(.listFull(maximum: 2)), .violation(.kindNotAllowed(.note)),
        .violation(.itemTooLarge(size: 3, maximum: 2)), .violation(.deckEmpty),
        .violation(.cardNotInDeck(.faceUp(.two, .clubs))), .violation(.cardsAreDealt),
        .duplicateItem(ItemID(rawValue: 2)), .doesNotFit(reach: 3, count: 2), .revisionMoved(now: 2), .notStored,
        .tooManyPending(limit: 2), .notAllowed, .storeFull(limit: 2), .reasonForgotten,
        .violation(.levelTooHigh(3, maximum: 2)),
    ]

    private func details(of rejection: Rejection) -> [String] {
        switch rejection {
        case .violation(.listFull): ["maximum", "–"]
        case .violation(.kindNotAllowed): ["kind", "–"]
        case .violation(.itemTooLarge): ["size", "maximum"]
        case .violation(.levelTooHigh): ["level", "maximum"]
        case .violation(.deckEmpty), .violation(.cardsAreDealt), .notStored, .notAllowed, .reasonForgotten:
            ["–", "–"]
        case .violation(.cardNotInDeck): ["card", "–"]
        case .duplicateItem: ["upper 32 bits of the item id", "lower 32 bits"]
        case .doesNotFit: ["items walked over", "items in the list"]
        case .revisionMoved: ["newest revision", "–"]
        case .tooManyPending, .storeFull: ["limit", "–"]
        }
    }

    @Test func reasonsOfRejections() throws {
        let rows = page.table("number", under: "Rejections")
        let expected = rejections.map { ["\($0.fields.code)", $0.name] + details(of: $0) }
        #expect(rows.map { Array($0[0..<4]) } == expected)
        for rejection in rejections {
            let (code, first, second) = rejection.fields
            #expect(try Rejection(code: code, first: first, second: second) == rejection)
            // The upper half of a small id is 0, too.
            if case .duplicateItem = rejection { continue }
            #expect(details(of: rejection).map { $0 == "–" } == [first == 0, second == 0])
        }
        for code in UInt64(0)...255 where !rows.contains(where: { $0[0] == "\(code)" }) {
            #expect(throws: WireError.self) { try Rejection(code: code, first: 0, second: 0) }
        }
    }

    /// Each message of the table has its row here, and each sample's rule is the one in the row.
    @Test func leastRolesAgreeWithTheirTable() {
        let rows = page.table("number", under: "Messages from the client")
        let roles = Dictionary(uniqueKeysWithValues: rows.map { ($0[1], $0[2]) })
        for (title, message) in Samples.up {
            let expected =
                switch message.reach {
                case .nothing: "none"
                case .server(let role): "\(role) on all lists"
                case .list(_, let role): "\(role)"
                case .followed(_, let role):
                    message.name == "submit" && role >= .append
                        ? "append if it only inserts, else write" : "\(role)"
                }
            #expect(roles[message.name] == expected, "\(title)")
        }
    }

    /// Limits that a client cannot meet: these are in `hand serve --help`.
    private static let operators: Set<String> = [
        "connections", "connectionsPerAddress", "failedHellos", "handshakesPerAddress", "lists", "userUnfinishedBytes",
        "userAnswerBytes",
        "tellingDelay",
        "tooFastDeadline", "userSubscriptions", "userItems", "userLists", "storeBytes", "listBytes", "answerBytes",
        "transfers",
        "pastRevisions", "stallDeadline",
        "snapshotCommits", "submissionWork", "inlineWork", "unloadDelay",
    ]

    /// Each limit is either in the table or concerns only operators.
    @Test func limitsAgreeWithTheirTable() {
        let rows = page.table("limit", under: "8. Limits, errors, rejections")
        var expected = Mirror(reflecting: Limits()).children.map { [$0.label ?? "", "\($0.value)"] }
        #expect(Self.operators.isSubset(of: expected.map { $0[0] }))
        expected.removeAll { Self.operators.contains($0[0]) }
        expected.append(["nameBytes", "\(Limits.nameBytes)"])
        expected.append(["personBytes", "\(Limits.personBytes)"])
        expected.append(["tokenBytes", "\(Limits.tokenBytes)"])
        #expect(rows.map { Array($0[0..<2]) } == expected)
        #expect(rows.allSatisfy { $0.count == 3 && !$0[2].isEmpty })
    }

    @Test func theTitleNamesTheHighestVersion() {
        #expect(page.lines.first == "# The protocol of `hand`, version \(ProtocolVersion.highest)")
    }

    /// Every field that a change can set is in the grammar, with its bit.
    @Test func fieldsOfChanges() throws {
        let all = Change.Fields(rawValue: .max)
        let names = zip(all.names, 0...).map { "\(1 << $0.1) \($0.0)" }.joined(separator: ", ")
        #expect(page.lines.contains { $0.hasPrefix("mask ") && $0.contains(names) }, "\(names)")
    }

    @Test func everyKnownKindIsListedWithItsNumber() {
        for kind in Content.Kind.known {
            #expect(page.lines.contains { $0.hasPrefix("\(kind.name) ") && $0.contains("; kind \(kind.rawValue):") })
        }
    }

    // MARK: The requirements

    /// The text of the page without its code.
    private var prose: String {
        var isCode = false
        return page.lines.filter { line in
            if line.hasPrefix("```") { isCode.toggle() }
            return !isCode
        }.joined(separator: "\n")
    }

    /// Each requirement is in a sentence of its own, and numbered in the order of the page.
    @Test func requirementsAreNumberedInReadingOrder() throws {
        let text = prose
        let numbers = text.matches(of: #/\*\*([CS])(\d+)\*\*/#)
        for side in ["C", "S"] {
            let mine = numbers.filter { $0.1 == side }.compactMap { Int($0.2) }
            #expect(!mine.isEmpty && mine == Array(1...mine.count), "\(side): \(mine)")
        }
        var start = text.startIndex
        for number in numbers {
            let demands = text[start..<number.range.lowerBound].matches(of: #/\b(MUST|SHOULD)\b/#)
            let demand = try #require(demands.first, "\(number.0)")
            #expect(demands.count == 1, "\(number.0): \(text[start..<number.range.upperBound].suffix(300))")
            let sentence = text[demand.range.upperBound..<number.range.lowerBound]
            #expect(sentence.matches(of: #/\.\s/#).isEmpty, "\(number.0) ends another sentence: \(sentence)")
            start = number.range.upperBound
        }
        #expect(text[start...].matches(of: #/\b(MUST|SHOULD)\b/#).isEmpty)
    }

    /// The table at the end has every requirement, where it is, and tests and vectors that exist.
    @Test func theTableOfRequirementsIsComplete() throws {
        let rows = page.table("number", under: "10. The requirements")
        let numbers = prose.matches(of: #/\*\*([CS]\d+)\*\*/#).map { String($0.1) }
        let sides = ["C", "S"].flatMap { side in numbers.filter { $0.hasPrefix(side) } }
        #expect(rows.map { $0[0] } == sides)
        let sources = try Self.tests()
        let vectors = try ProtocolPage.vectors("machine").map { line in
            try #require(line.firstMatch(of: #/"name":"([^"]*)"/#).map { String($0.1) })
        }
        let headings = page.lines.filter { $0.hasPrefix("## ") }
        let section = #/^(\d+)(, all|(, `\w+`)*)$/#
        for row in rows {
            let place = try #require(row[1].firstMatch(of: section), "\(row)")
            let heading = try #require(headings.first { $0.hasPrefix("## \(place.1).") })
            let part = page.lines[(page.lines.firstIndex(of: heading) ?? 0)...].dropFirst().prefix {
                !$0.hasPrefix("## ")
            }
            #expect(part.contains { $0.contains("**\(row[0])**") }, "\(row)")
            for name in row[1].matches(of: #/`(\w+)`/#).map({ String($0.1) }) {
                #expect(part.contains { $0.contains("def \(name)(") || $0.contains("`\(name)`") }, "\(row)")
            }
            let shown = row[2].matches(of: #/`([^`]+)`/#).map { String($0.1) }
            #expect(!shown.isEmpty && row[2] == shown.map { "`\($0)`" }.joined(separator: ", "), "\(row)")
            for name in shown {
                let isTest = sources.contains { $0.contains("func \(name)(") || $0.contains("struct \(name) ") }
                #expect(isTest || name.contains(": ") && vectors.contains { $0.hasPrefix(name) }, "\(row)")
            }
        }
    }

    /// The sources of all tests.
    private static func tests() throws -> [String] {
        let folder = Project.root.appending(path: "Tests")
        let files = try #require(FileManager.default.enumerator(atPath: folder.path)).compactMap { $0 as? String }
        return try files.filter { $0.hasSuffix(".swift") }.map {
            try String(contentsOf: folder.appending(path: $0), encoding: .utf8)
        }
    }

    /// The page is short enough to be read.
    @Test func thePageStaysShort() {
        #expect(page.lines.joined(separator: "\n").utf8.count <= 70_000)
    }
}
