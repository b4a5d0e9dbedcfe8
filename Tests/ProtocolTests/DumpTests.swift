import HandCore
import HandWire
import Testing

/// Every dump in `Protocol.md` contains the bytes of the message in its title, and every message has a dump.
@Suite struct DumpTests {
    private static let dumps = ProtocolPage.shared.fences(of: "hex").filter { $0.name != "session" }

    /// Returns the bytes of a dump. Every line must have bytes; the first has the frame's length.
    private func bytes(of fence: ProtocolPage.Fence) throws -> [UInt8] {
        try fence.lines.flatMap { line in
            let bytes = try #require(hexBytes(line), "line \(fence.line): \(line)")
            #expect(!bytes.isEmpty, "a line without bytes: \(line)")
            return bytes
        }
    }

    /// Returns the body of the only frame in the bytes.
    private func body(of frame: [UInt8], _ name: String) throws -> [UInt8] {
        var bodies: [[UInt8]] = []
        var reader = FrameReader(limit: frame.count)
        try frame.withUnsafeBytes { all in
            try reader.read(all) { (body) throws(WireError) -> Bool in
                bodies.append([UInt8](body))
                return true
            }
        }
        #expect(bodies.count == 1, "\(name) is one frame")
        let body = try #require(bodies.first)
        #expect(Frame.size(ofBody: body.count) == frame.count, "\(name) has the stated length")
        return body
    }

    @Test func dumpsFromTheClient() throws {
        let dumps = Self.dumps.filter { $0.name.hasPrefix("up ") }
        #expect(Set(dumps.map { String($0.name.dropFirst(3)) }) == Set(Samples.up.keys))
        for (name, fence) in dumps {
            let frame = try bytes(of: fence)
            let message = try body(of: frame, name).withUnsafeBytes { try UpMessage($0) }
            let expected = try #require(Samples.up[String(name.dropFirst(3))], "\(name)")
            #expect(message == expected, "\(name)")
            #expect(expected.frame == frame, "\(name)")
            #expect(name.hasPrefix("up " + message.name))
        }
    }

    @Test func dumpsFromTheServer() throws {
        let dumps = Self.dumps.filter { $0.name.hasPrefix("down ") }
        #expect(Set(dumps.map { String($0.name.dropFirst(5)) }) == Set(Samples.down.keys))
        for (name, fence) in dumps {
            let frame = try bytes(of: fence)
            let message = try body(of: frame, name).withUnsafeBytes { try DownMessage($0) }
            let expected = try #require(Samples.down[String(name.dropFirst(5))], "\(name)")
            #expect(message == expected, "\(name)")
            #expect(expected.frame == frame, "\(name)")
            #expect(name.hasPrefix("down " + message.name))
        }
    }

    @Test func thereAreNoOtherDumps() {
        #expect(Self.dumps.count == Samples.up.count + Samples.down.count)
        #expect(Self.dumps.allSatisfy { $0.name.hasPrefix("up ") || $0.name.hasPrefix("down ") })
    }

    // MARK: The tables of messages

    /// Returns the number and name of each message that has a dump.
    private func numbers(_ dumps: [(name: String, frame: [UInt8])]) -> Set<String> {
        Set(dumps.map { "\($0.frame[UInt64($0.frame.count).varintSize == 1 ? 1 : 2]) \($0.name)" })
    }

    private func rows(under heading: String) -> [String] {
        ProtocolPage.shared.table("number", under: heading).map { "\($0[0]) \($0[1])" }
    }

    @Test func tablesOfMessages() {
        let up = rows(under: "Messages from the client")
        #expect(Set(up) == numbers(Samples.up.values.map { ($0.name, $0.frame) }))
        #expect(Set(up).count == up.count)
        let down = rows(under: "Messages from the server")
        #expect(Set(down) == numbers(Samples.down.values.map { ($0.name, $0.frame) }))
        #expect(Set(down).count == down.count)
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
