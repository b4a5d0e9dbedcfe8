import Foundation
import HandCore
import HandFormats
import HandVectors
import HandWire
import Testing

/// The JSON on the page of the vectors has the described form, and the vectors on both pages hold.
@Suite struct ExampleTests {
    private static let fences = [ProtocolPage.shared, .vectors].flatMap { $0.fences(of: "json") }

    private enum Unknown: Error {
        case kind(String)
    }

    /// Returns the same value, read and written again.
    private func again(_ value: JSONValue, _ kind: String) throws -> JSONValue {
        switch kind {
        case "item": return JSON.item(try JSON.item(from: JSONField(value)))
        case "change": return JSON.change(try JSON.change(from: JSONField(value)))
        case "delta": return JSON.delta(try JSON.delta(from: JSONField(value)))
        case "rules": return JSON.rules(try JSON.rules(from: JSONField(value)))
        case "rejection": return JSON.rejection(try JSON.rejection(from: JSONField(value)))
        case "commit":
            let commit = try JSON.commit(from: JSONField(value))
            let date = value["at"] == nil ? nil : JSON.date(milliseconds: commit.time)
            return JSON.commit(commit, person: text(value["person"]), at: date)
        default: throw Unknown.kind(kind)
        }
    }

    private func text(_ value: JSONValue?) -> String? {
        if case .string(let text) = value { text } else { nil }
    }

    @Test func everyExampleIsReadAndWrittenAgain() throws {
        let kinds = Set(Self.fences.map(\.name))
        #expect(kinds == ["item", "change", "delta", "commit", "rules", "rejection", "vector"])
        for (kind, fence) in Self.fences where kind != "vector" {
            for line in fence.lines { #expect(try again(JSONValue.parse(line), kind).line == line) }
        }
    }

    @Test func everyVectorHolds() throws {
        let lines =
            Self.fences.filter { $0.name == "vector" }.flatMap(\.fence.lines) + (try ProtocolPage.vectors("merging"))
        #expect(lines.count >= 15)
        for line in lines { #expect(Vectors.mismatch(in: line) == nil, "\(line)") }
    }

    @Test func everyKindAndReasonHasAnExample() throws {
        let items = Self.fences.filter { $0.name == "item" }.flatMap(\.fence.lines)
        for kind in Content.Kind.known { #expect(items.contains { $0.contains("\"kind\":\"\(kind.name)\"") }) }
        let reasons = Self.fences.filter { $0.name == "rejection" }.flatMap(\.fence.lines)
        let codes = try reasons.map { try JSON.rejection(from: JSONField(JSONValue.parse($0))).fields.code }
        let numbers = ProtocolPage.shared.table("number", under: "Rejections").map { UInt64($0[0]) }
        #expect(!codes.isEmpty && codes == numbers)
    }

    // MARK: The semantics table

    /// Each row of the table has a vector of the same name, and describes it correctly.
    @Test func rowsOfTheSemanticsTable() throws {
        let rows = ProtocolPage.shared.table("concurrent: first / second", under: "Merging")
        let vectors = try ProtocolPage.vectors("merging").map(JSONValue.parse)
        #expect(rows.count >= 10)
        for row in rows {
            let vector = try #require(vectors.first { text($0["name"]) == row[0] }, "\(row[0])")
            #expect(row[2] == letters(vector["list"]))
            #expect(row[3] == plain(try JSON.delta(from: JSONField(vector["first"] ?? .null))))
            #expect(row[4] == plain(try JSON.delta(from: JSONField(vector["second"] ?? .null))))
            #expect(row[5] == plain(try JSON.delta(from: JSONField(vector["expect"]?["second"] ?? .null))))
            #expect(row[6] == letters(vector["expect"]?["afterFirst"]))
        }
    }

    private func letters(_ list: JSONValue?) -> String {
        guard case .array(let items) = list, !items.isEmpty else { return "—" }
        return items.map { (text($0["text"]) ?? "") + ($0["done"] == true ? " (done)" : "") }.joined()
    }

    /// Returns a delta in the form of the table.
    private func plain(_ delta: Delta) -> String {
        if delta.isIdentity { return "nothing" }
        return delta.components.map { component in
            switch component {
            case .keep(let count): "keep \(count)"
            case .delete(let count): "delete \(count)"
            case .pick(let count): "pick \(count)"
            case .edit(let change):
                "edit "
                    + ((change.text.isIdentity
                    ? [] : ["text " + change.text.splices.map(plain).joined(separator: " and ")])
                    + (change.done.map { ["done \($0)"] } ?? [])).joined(separator: ", ")
            case .insert(let items, let side): "insert \(items.map(\.content.text).joined()) \(side)"
            case .drop(let slots, let side, _):
                "drop \(slots.lowerBound)" + (slots.count > 1 ? "–\(slots.upperBound - 1)" : "") + " \(side)"
            }
        }.joined(separator: ", ")
    }

    private func plain(_ splice: Splice) -> String {
        switch (splice.removed, splice.inserted) {
        case ("", let inserted): #"at \#(splice.at) + "\#(inserted)""#
        case (let removed, ""): #"at \#(splice.at) − "\#(removed)""#
        case (let removed, let inserted): #"at \#(splice.at) "\#(removed)" -> "\#(inserted)""#
        }
    }

    // MARK: The digest, step by step

    @Test func theDigestExampleHoldsStepByStep() throws {
        let rows = ProtocolPage.shared.table("worked example", under: "Digest")
        #expect(rows.map { $0[0] } == ["bytes", "FNV-1a", "mixed", "hash"])
        for column in 1...2 {
            let cells = rows.map { $0[column].filter { $0 != "`" } }
            let bytes = try #require(hexBytes(cells[0]))
            let item = try bytes.withUnsafeBytes { all in
                var reader = WireReader(all)
                let item = try reader.item()
                try reader.expectEnd(of: "item")
                return item
            }
            let sum = bytes.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
            #expect(cells[1] == Hex.text(sum))
            let first = (sum ^ sum >> 33) &* 0xFF51_AFD7_ED55_8CCD
            let second = (first ^ first >> 33) &* 0xC4CE_B9FE_1A85_EC53
            #expect(cells[2] == Hex.text(second ^ second >> 33))
            #expect(cells[3] == Hex.text(item.hash))
            #expect(item.hash == (second ^ second >> 33) % Digest.modulus)
        }
        let base = Hex.text(Digest.base)
        #expect(ProtocolPage.shared.lines.contains { $0.contains("`B = \(base)`") })
    }
}
