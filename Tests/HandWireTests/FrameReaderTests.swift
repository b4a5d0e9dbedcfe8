import HandCore
import HandTestSupport
import HandWire
import Testing

/// Frames come out complete and in order, regardless of the pieces in which their bytes arrive.
@Suite struct FrameReaderTests {
    /// Returns the frames that a reader returns for these pieces.
    private func bodies(_ pieces: [[UInt8]], limit: Int = 1 << 20) throws(WireError) -> [[UInt8]] {
        var found: [[UInt8]] = []
        var reader = FrameReader(limit: limit)
        for piece in pieces {
            let outcome = piece.withUnsafeBytes { all in
                Result { () throws(WireError) in
                    try reader.read(all) { (body) throws(WireError) -> Bool in
                        found.append([UInt8](body))
                        return true
                    }
                }
            }
            try outcome.get()
        }
        return found
    }

    private func samples(_ random: inout SplitMix64, _ count: Int) -> [[UInt8]] {
        let sizes = [1, 2, 5, 126, 127, 128, 129, 300, 16_383, 16_384, 20_000]
        return (0..<count).map { _ in
            let size = sizes[random.next(below: sizes.count)]
            return (0..<size).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        }
    }

    @Test func wholeAndByteByByte() throws {
        var random = SplitMix64(seed: testSeed(74))
        let expected = samples(&random, 12)
        let stream = expected.flatMap { Frame.around($0) }
        #expect(try bodies([stream]) == expected)
        #expect(try bodies(stream.map { [$0] }) == expected)
        #expect(try bodies(expected.map { Frame.around($0) }) == expected)
    }

    @Test func framesAreReadWhereverTheyAreCut() throws {
        var random = SplitMix64(seed: testSeed(75))
        for _ in 0..<100 {
            let expected = samples(&random, 1 + random.next(below: 6))
            var rest = expected.flatMap { Frame.around($0) }[...]
            var pieces: [[UInt8]] = []
            while !rest.isEmpty {
                let most = random.next(below: 3) == 0 ? rest.count : min(rest.count, 40)
                let count = random.next(below: most + 1)
                pieces.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            #expect(try bodies(pieces) == expected)
        }
    }

    /// `body` may stop at any frame; the rest is returned later, with no new bytes or with more.
    @Test func stoppingAndGoingOn() throws {
        var random = SplitMix64(seed: testSeed(76))
        for _ in 0..<100 {
            let expected = samples(&random, 5)
            let stream = expected.flatMap { Frame.around($0) }
            let cut = random.next(below: stream.count + 1)
            var pieces = [Array(stream[..<cut]), Array(stream[cut...])]
            pieces.insert([], at: 1)
            pieces += Array(repeating: [], count: expected.count + 1)
            var found: [[UInt8]] = []
            var reader = FrameReader(limit: 1 << 20)
            for piece in pieces {
                try piece.withUnsafeBytes { all in
                    try reader.read(all) { (body) throws(WireError) -> Bool in
                        found.append([UInt8](body))
                        return random.next() & 1 == 0
                    }
                }
            }
            #expect(Array(expected.prefix(found.count)) == found)
            #expect(try found + remaining(&reader) == expected)
        }
    }

    private func remaining(_ reader: inout FrameReader) throws -> [[UInt8]] {
        var found: [[UInt8]] = []
        try reader.read(UnsafeRawBufferPointer(start: nil, count: 0)) { (body) throws(WireError) -> Bool in
            found.append([UInt8](body))
            return true
        }
        return found
    }

    /// A raised limit applies to the frames that have already arrived, as after a hello.
    @Test func raisingTheLimit() throws {
        let frames = Frame.around([1]) + Frame.around(Array(repeating: 2, count: 5_000))
        var found = 0
        var reader = FrameReader(limit: 1024)
        try frames.withUnsafeBytes { all in
            try reader.read(all) { (body) throws(WireError) -> Bool in
                found += body.count
                return false
            }
        }
        reader.limit = 8_192
        #expect(try remaining(&reader).map(\.count) == [5_000])
        #expect(found == 1)
    }

    @Test(arguments: [1, 2, 127, 128, 1024, 70_000])
    func framesOverTheLimitAreRefusedAtOnce(limit: Int) throws {
        let exact = Frame.around(Array(repeating: 7, count: limit))
        #expect(try bodies([exact], limit: limit).count == 1)
        // One more byte is refused as soon as the length has arrived, before any of the body.
        let longer = Frame.around(Array(repeating: 7, count: limit + 1))
        let length = Array(longer.prefix(UInt64(limit + 1).varintSize))
        let error = WireError.tooLarge(field: "length of a frame", limit: limit, found: UInt64(limit + 1))
        #expect(throws: error) { try bodies([length], limit: limit) }
        #expect(throws: error) { try bodies(length.map { [$0] }, limit: limit) }
    }

    @Test(arguments: [
        [0], [0x80, 0x00], [0xFF, 0x00], [0x81, 0x80, 0x00], [0x80, 0x80, 0x80, 0x80, 0x00],
        [0xFF, 0xFF, 0xFF, 0xFF, 0x08], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
    ])
    func lengthsThatAreNone(bytes: [UInt8]) {
        #expect(throws: WireError.self) { try bodies([bytes], limit: .max) }
        #expect(throws: WireError.self) { try bodies(bytes.map { [$0] }, limit: .max) }
    }

    /// A reader with that limit accepts a length of two gigabytes, and stores no more than what has arrived.
    @Test func aLengthIsNotAllocatedFor() throws {
        var reader = FrameReader(limit: Int(Int32.max))
        let start: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0x07, 1, 2, 3]
        for _ in 0..<1_000 {
            var fresh = reader
            try start.withUnsafeBytes { try fresh.read($0) { _ in true } }
        }
        #expect(try bodies([start], limit: Int(Int32.max)).isEmpty)
        #expect(try remaining(&reader).isEmpty)
    }

    /// The memory of a reader is that of the bytes that have arrived, whatever their pieces; and none when all are read.
    @Test(arguments: [1, 1_000, 65_536]) func itTakesNoMoreMemoryThanItHasBytes(piece: Int) throws {
        let frame = Frame.around([UInt8](repeating: 7, count: 3_000_000))
        var reader = FrameReader(limit: 4_000_000)
        var fed = 0
        for start in stride(from: 0, to: frame.count - 1, by: piece) {
            let part = frame[start..<min(start + piece, frame.count - 1)]
            try part.withUnsafeBytes { try reader.read($0) { _ in true } }
            fed += part.count
            guard start % 1_000 == 0 else { continue }
            #expect(reader.memory >= fed && reader.memory <= fed + 200_000)
        }
        var found = 0
        try frame[(frame.count - 1)...].withUnsafeBytes {
            try reader.read($0) { body in
                found = body.count
                return true
            }
        }
        #expect(found == 3_000_000 && reader.memory == 0)
    }

    /// Frames that came together and are read one at a time are not copied each time: that would be 4 gigabytes here.
    @Test(.timeLimit(.minutes(2))) func manyFramesOneAtATime() throws {
        let frames = (0..<60_000).flatMap { _ in Frame.around([1]) }
        var reader = FrameReader(limit: 10)
        var found = 0
        func next(_ bytes: [UInt8]) throws {
            try bytes.withUnsafeBytes {
                try reader.read($0) { _ in
                    found += 1
                    return false
                }
            }
        }
        try next(frames)
        while reader.unfinishedCount > 0, found < 100_000 { try next([]) }
        #expect(found == 60_000 && reader.memory == 0)
    }

    @Test func whatTheBodyThrowsIsHandedOn() {
        var reader = FrameReader(limit: 10)
        #expect(throws: WireError.notHand) {
            try Frame.around([1]).withUnsafeBytes { all in
                try reader.read(all) { (_) throws(WireError) -> Bool in throw .notHand }
            }
        }
    }

    /// The received part of a long frame is not copied for each byte that arrives: that would be a terabyte here.
    @Test(.timeLimit(.minutes(2))) func aLongFrameInManyPieces() throws {
        let frame = Frame.around([UInt8](repeating: 7, count: 1_500_000))
        #expect(try bodies(frame.map { [$0] }, limit: 2_000_000).map(\.count) == [1_500_000])
    }
}
