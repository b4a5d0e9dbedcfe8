import Foundation
import HandCore
import HandFormats
import HandVectors
import HandWire
import Testing

/// The messages in bytes: `frames.jsonl` has all of `Samples`, and the dumps of `Protocol.md` are some of them.
/// `HAND_WRITE_VECTORS=1` writes the file.
@Suite struct DumpTests {
    private static let dumps = ProtocolPage.shared.fences(of: "hex").filter { $0.name != "session" }

    // MARK: The vectors

    private static var samples: [(direction: String, name: String, message: String, frame: [UInt8])] {
        let up = Samples.up.map { ("up", $0.key, $0.value.name, $0.value.frame) }
        let down = Samples.down.map { ("down", $0.key, $0.value.name, $0.value.frame) }
        return [up, down].flatMap { $0.sorted { ($0.3.messageNumber, $0.1) < ($1.3.messageNumber, $1.1) } }
    }

    @Test func theVectorsAreTheSamples() throws {
        let lines = try Self.samples.map { sample in
            let question: [JSONValue.Member] = [
                .init("law", "codec"), .init("name", .string(sample.name)), .init("type", "frame"),
                .init("direction", .string(sample.direction)), .init("hex", .string(Hex.text(sample.frame))),
            ]
            let answer = try JSONValue.parse(Vectors.answer(line: JSONValue.object(question).line))
            #expect(answer["message"] == .string(sample.message), "\(sample.name)")
            return JSONValue.object(question + [.init("expect", answer)]).line
        }
        if ProcessInfo.processInfo.environment["HAND_WRITE_VECTORS"] != nil {
            try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: ProtocolPage.file("frames"))
        }
        #expect(try ProtocolPage.vectors("frames") == lines)
    }

    /// The names of a message's fields are those in the code.
    @Test(arguments: [
        ("unsubscribe", #"{"list":7}"#), ("ping", #"{"nonce":1000}"#),
        ("stale", #"{"list":7,"sequence":6,"head":90000}"#),
        ("presence on an item", #"{"list":7,"focus":{"selecting":"04hmasw9nf6yy"}}"#),
        (
            "submit what was carried over 7 revisions",
            #"{"list":7,"base":300,"sequence":5,"how":8,"delta":[{"keep":2},"#
        ),
        ("rejected", #"{"list":7,"sequence":6,"rejection":{"reason":"itemTooLarge","message":"#),
    ])
    func fieldsOfAMessage(name: String, start: String) throws {
        let vectors = try ProtocolPage.vectors("frames").map(JSONValue.parse)
        let vector = try #require(vectors.first { $0["name"] == .string(name) })
        #expect(vector["expect"]?["fields"]?.line.hasPrefix(start) == true, "\(vector.line)")
    }

    // MARK: The dumps of the page

    /// Returns the bytes of a dump. Every line must have bytes; the first has the frame's length.
    private func bytes(of fence: ProtocolPage.Fence) throws -> [UInt8] {
        try fence.lines.flatMap { line in
            let bytes = try #require(hexBytes(line), "line \(fence.line): \(line)")
            #expect(!bytes.isEmpty, "a line without bytes: \(line)")
            return bytes
        }
    }

    @Test func thePageShowsSamples() throws {
        for (name, fence) in Self.dumps {
            let sample = try #require(Self.samples.first { "\($0.direction) \($0.name)" == name }, "\(name)")
            #expect(try bytes(of: fence) == sample.frame, "\(name)")
        }
        #expect(
            Self.dumps.map(\.name) == ["up hello", "down subscribed, with a snapshot", "up submit", "down commit"])
    }

    // MARK: The tables of messages

    private func rows(under heading: String) -> [String] {
        ProtocolPage.shared.table("number", under: heading).map { "\($0[0]) \($0[1])" }
    }

    @Test func tablesOfMessages() {
        for (direction, heading) in [("up", "Messages from the client"), ("down", "Messages from the server")] {
            let rows = rows(under: heading)
            let samples = Self.samples.filter { $0.direction == direction }
            #expect(Set(rows) == Set(samples.map { "\($0.frame.messageNumber) \($0.message)" }))
            #expect(Set(rows).count == rows.count)
        }
    }

    /// The code knows exactly the numbers in the tables.
    @Test(arguments: UInt8.min...UInt8.max)
    func exactlyTheListedNumbersAreKnown(number: UInt8) {
        func isKnown(_ read: (UnsafeRawBufferPointer) throws -> Void) -> Bool {
            do {
                try withUnsafeBytes(of: number) { try read($0) }
                return true
            } catch {
                return error as? WireError != .unknownValue(field: "message type", found: UInt64(number))
            }
        }
        func isListed(under heading: String) -> Bool { rows(under: heading).contains { $0.hasPrefix("\(number) ") } }
        #expect(isKnown { _ = try UpMessage($0) } == isListed(under: "Messages from the client"))
        #expect(isKnown { _ = try DownMessage($0) } == isListed(under: "Messages from the server"))
    }

    /// Each message's row has its name and fields: no field list is empty.
    @Test func everyRowIsComplete() {
        for heading in ["Messages from the client", "Messages from the server"] {
            for row in ProtocolPage.shared.table("number", under: heading) {
                #expect(row.count == 4, "\(row)")
                #expect(row.allSatisfy { !$0.isEmpty }, "\(row)")
            }
        }
    }
}

extension [UInt8] {
    /// The number of the message in a frame.
    fileprivate var messageNumber: UInt8 { self[UInt64(count).varintSize == 1 ? 1 : 2] }
}
