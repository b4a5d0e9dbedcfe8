import EventLoop
import HandCore
import HandServer
import HandTestSupport
import HandWire
import Testing

/// The stream of bytes in a WebSocket, above a channel whose every write the test decides.
@Suite struct WebSocketStreamTests {
    /// A channel that takes as many bytes at once as it is told, and queues the rest until it is drained.
    private final class Line: Channel {
        let peerDescription = "the test"
        /// The bytes that the peer has got.
        private(set) var taken: [UInt8] = []
        private var queue: [UInt8] = []
        /// How many bytes the next write takes at once.
        var room = Int.max
        private(set) var isReading = true
        private(set) var isShutDown = false
        private(set) var isClosed = false
        private var receive: ((ChannelEvent) -> Void)?

        var isWriting: Bool { !queue.isEmpty }
        func open(_ receive: @escaping (ChannelEvent) -> Void) { self.receive = receive }
        func stopReading() { isReading = false }
        func resumeReading() { isReading = true }
        func shutdown() { isShutDown = true }
        func close() { isClosed = true }

        func writeNow(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int {
            if isWriting { return 0 }
            let all = Array(first) + Array(second)
            let count = min(room, all.count)
            taken += all[..<count]
            return count
        }

        func write(_ buffers: UnsafeBufferPointer<OutputBuffer>) -> WriteResult {
            queue += buffers.flatMap { Array($0.bytes) }
            if room == .max { drain() }
            return isWriting ? .draining : .written
        }

        private func drain() {
            taken += queue
            queue = []
        }

        func drained() {
            drain()
            receive?(.drained)
        }

        func send(_ bytes: [UInt8]) { bytes.withUnsafeBytes { receive?(.bytes($0)) } }
        func end(_ end: ChannelEnd) { receive?(.ended(end)) }
    }

    /// A frame as a server sends it: the opcode and the content.
    private struct Frame: Equatable {
        let opcode: UInt8
        let content: [UInt8]
    }

    private static func frames(_ bytes: [UInt8]) -> [Frame] {
        var (frames, rest) = ([Frame](), bytes[...])
        while let first = rest.popFirst(), let length = rest.popFirst() {
            var count = Int(length)
            if length >= 126 {
                let size = length == 126 ? 2 : 8
                count = rest.prefix(size).reduce(0) { $0 << 8 | Int($1) }
                rest = rest.dropFirst(size)
            }
            frames.append(Frame(opcode: first, content: Array(rest.prefix(count))))
            if rest.count < count { Issue.record("a frame is cut") }
            rest = rest.dropFirst(count)
        }
        return frames
    }

    private static func content(_ bytes: [UInt8]) -> [UInt8] {
        frames(bytes).filter { $0.opcode == 0x82 }.flatMap(\.content)
    }

    private static func masked(_ opcode: UInt8, _ content: [UInt8] = []) -> [UInt8] {
        [0x80 | opcode, 0x80 | UInt8(content.count), 0, 0, 0, 0] + content
    }

    /// What a stream has told its owner.
    private final class Told {
        var stream: WebSocketStream?
        var bytes: [UInt8] = []
        var drains = 0
        var ends: [ChannelEnd] = []
    }

    private static func open() throws -> (stream: WebSocketStream, line: Line, told: Told, loop: Loop) {
        let (loop, line, told) = (try Loop(), Line(), Told())
        let stream = WebSocketStream(loop, line)
        told.stream = stream
        stream.open {
            switch $0 {
            case .bytes(let bytes): told.bytes += bytes
            case .drained: told.drains += 1
            case .ended(let end): told.ends.append(end)
            }
        }
        return (stream, line, told, loop)
    }

    /// Writes as the server does: at once, and then what was not taken.
    private static func write(_ pieces: [[UInt8]], to stream: WebSocketStream) -> Bool {
        let taken = pieces.count == 1 ? pieces[0].withUnsafeBytes { stream.writeNow($0) } : 0
        if taken > 0, taken == pieces[0].count { return true }
        let rest = [Array(pieces[0][taken...])] + pieces.dropFirst()
        return stream.write(rest.map { OutputBuffer($0) }) == .written
    }

    // MARK: Writing

    /// Whatever part of a write the system takes at once, also within the header, the bytes arrive in order.
    @Test(arguments: [1, 3, 125, 126, 300])
    func anyPartMayBeTakenAtOnce(_ size: Int) throws {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
        for room in 0...size + 10 {
            let (stream, line, told, loop) = try Self.open()
            line.room = room
            let isWritten = Self.write([bytes], to: stream)
            #expect(isWritten == (room >= size + (size < 126 ? 2 : 4)), "\(room)")
            #expect(Self.write([[7], [8, 9]], to: stream) == false)
            line.drained()
            #expect(told.drains == 1)
            line.room = .max
            #expect(Self.write([[1, 2]], to: stream))
            #expect(Self.content(line.taken) == bytes + [7, 8, 9, 1, 2], "\(room)")
            loop.close()
        }
    }

    @Test func largeWritesHaveLongHeaders() throws {
        let (stream, line, told, loop) = try Self.open()
        defer { told.stream = nil }
        let large = [UInt8](repeating: 7, count: 70_000)
        #expect(Self.write([large], to: stream) && Self.write([large, [1]], to: stream))
        #expect(Self.frames(line.taken).map(\.content.count) == [70_000, 70_001])
        loop.close()
    }

    // MARK: Pings

    @Test func aPingIsAnswered() throws {
        let (_, line, told, loop) = try Self.open()
        line.send(Self.masked(9, [1, 2]) + Self.masked(2, [3]))
        #expect(Self.frames(line.taken) == [Frame(opcode: 0x8A, content: [1, 2])])
        #expect(told.bytes == [3])
        loop.close()
    }

    /// A client that sends pings and reads nothing makes the server keep one answer, and not read on.
    @Test func pingsDoNotPileUp() throws {
        let (stream, line, told, loop) = try Self.open()
        line.room = 0
        _ = Self.write([[1]], to: stream)
        for number in 0..<200 as Range<UInt8> { line.send(Self.masked(9, [number])) }
        #expect(!line.isReading)
        line.send(Self.masked(2, [5]))
        stream.stopReading()
        stream.resumeReading()
        #expect(!line.isReading)
        line.room = .max
        line.drained()
        #expect(line.isReading && told.drains == 1 && told.bytes == [5])
        #expect(Self.frames(line.taken).map(\.content) == [[1], [199]])
        loop.close()
    }

    /// While a pong waits, what the server writes comes after it or before it, but never within it.
    @Test func aPongNeverInterruptsAMessage() throws {
        let (stream, line, told, loop) = try Self.open()
        defer { told.stream = nil }
        line.room = 3
        _ = Self.write([[1, 2, 3, 4]], to: stream)
        line.send(Self.masked(9, [9]))
        _ = Self.write([[5]], to: stream)
        line.room = .max
        line.drained()
        #expect(Self.frames(line.taken).map(\.content) == [[1, 2, 3, 4], [5], [9]])
        loop.close()
    }

    // MARK: Reading

    @Test func whoDoesNotReadGetsNothing() throws {
        let (stream, line, told, loop) = try Self.open()
        stream.stopReading()
        #expect(!line.isReading)
        line.send(Self.masked(2, [1, 2]))
        line.send(Self.masked(2, [3]))
        #expect(told.bytes.isEmpty)
        stream.resumeReading()
        #expect(told.bytes.isEmpty && !line.isReading)
        loop.runOnce()
        #expect(told.bytes == [1, 2, 3] && line.isReading)
        loop.close()
    }

    @Test func aReaderMayStopWithinAMessage() throws {
        let (loop, line) = (try Loop(), Line())
        let stream = WebSocketStream(loop, line)
        var bytes: [UInt8] = []
        stream.open { [unowned stream] in
            if case .bytes(let new) = $0 {
                bytes += new
                stream.stopReading()
            }
        }
        line.send(Self.masked(2, [1]) + Self.masked(2, [2]) + Self.masked(2, [3]))
        #expect(bytes == [1])
        for count in 2...3 {
            stream.resumeReading()
            loop.runOnce()
            #expect(bytes.count == count)
        }
        loop.close()
    }

    // MARK: Ends

    @Test func theClientsEndIsAnswered() throws {
        let (stream, line, told, loop) = try Self.open()
        line.send(Self.masked(8, [0x0F, 0xA0, 0x61]) + Self.masked(2, [1]))
        #expect(told.ends == [.eof] && told.bytes.isEmpty)
        #expect(Self.frames(line.taken) == [Frame(opcode: 0x88, content: [0x0F, 0xA0, 0x61])])
        #expect(!Self.write([[1]], to: stream))
        // What the client sends against the rules would reset the connection, and the answer could be lost.
        stream.close()
        #expect(!line.isClosed && line.isShutDown)
        line.end(.eof)
        #expect(line.isClosed && Self.frames(line.taken).count == 1)
        loop.close()
    }

    @Test func whoEndsGetsWhatWaits() throws {
        let (stream, line, told, loop) = try Self.open()
        line.room = 0
        _ = Self.write([[1]], to: stream)
        line.send(Self.masked(8))
        #expect(told.ends == [.eof])
        stream.close()
        #expect(!line.isClosed && line.isShutDown)
        line.end(.eof)
        #expect(line.isClosed)
        loop.close()
    }

    @Test func brokenFramesAreAnsweredWithTheReason() throws {
        let (stream, line, told, loop) = try Self.open()
        line.send(Self.masked(2, [1]) + Self.masked(1, [0x61]) + Self.masked(2, [2]))
        #expect(told.bytes == [1])
        #expect(told.ends == [.broken("WebSocket: text was sent; this protocol is binary")])
        #expect(Array(Self.frames(line.taken)[0].content.prefix(2)) == [0x03, 0xEB])
        // The reason is not lost to a reset: the server hears the client out for a moment.
        stream.close()
        #expect(!line.isClosed && line.isShutDown)
        line.end(.eof)
        #expect(line.isClosed)
        loop.close()
    }

    @Test func theServersEndHasItsCode() throws {
        let (stream, line, told, loop) = try Self.open()
        stream.closeCode = 1008
        stream.shutdown()
        #expect(Self.frames(line.taken) == [Frame(opcode: 0x88, content: [0x03, 0xF0])])
        #expect(!Self.write([[1]], to: stream))
        // What the client has sent before its own end is still read.
        line.send(Self.masked(2, [1]))
        line.send(Self.masked(8, [0x03, 0xF0]))
        #expect(told.bytes == [1] && told.ends == [.eof] && Self.frames(line.taken).count == 1)
        stream.close()
        #expect(!line.isClosed && line.isShutDown)
        line.end(.eof)
        #expect(line.isClosed)
        loop.close()
    }

    @Test func whoSaysNothingIsClosedAfterAMoment() throws {
        let (stream, line, told, loop) = try Self.open()
        defer { told.stream = nil }
        stream.close()
        #expect(Self.frames(line.taken) == [Frame(opcode: 0x88, content: [0x03, 0xE8])])
        #expect(!line.isClosed)
        while !line.isClosed { loop.runOnce() }
        loop.close()
    }

    @Test func whoDoesNotReadIsClosedAtOnce() throws {
        let (stream, line, told, loop) = try Self.open()
        defer { told.stream = nil }
        line.room = 0
        _ = Self.write([[1]], to: stream)
        stream.close()
        #expect(line.isClosed)
        loop.close()
    }

    @Test func aLostConnectionIsClosedAtOnce() throws {
        let (stream, line, told, loop) = try Self.open()
        line.end(.failed(.connectionReset))
        #expect(told.ends == [.failed(.connectionReset)])
        stream.close()
        #expect(line.isClosed && line.taken.isEmpty)
        loop.close()
    }
}
