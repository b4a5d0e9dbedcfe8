import EventLoop
import Glibc
import Testing

/// A folder of its own for a test's socket files, removed with what is in it by `withFolder`.
func withFolder(_ body: (String) throws -> Void) throws {
    var template = Array("/tmp/eventloop-XXXXXX".utf8CString)
    try #require(mkdtemp(&template) != nil)
    let folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    defer {
        for name in ["socket", "other"] { unlink(folder + "/" + name) }
        rmdir(folder)
    }
    try body(folder)
}

/// A loop that is closed at the end, so that a test fails by hanging if something cannot be closed.
func withLoop(_ body: (Loop) throws -> Void) throws {
    let loop = try Loop()
    defer { loop.close() }
    try body(loop)
}

extension Result {
    /// The value, or nil and a failed test.
    func orRecord() -> Success? {
        switch self {
        case .success(let value): return value
        case .failure(let error):
            Issue.record(error)
            return nil
        }
    }
}

extension SocketAddress {
    static func loopback(_ port: UInt16 = 0) throws -> SocketAddress {
        try SocketAddress(ip: "127.0.0.1", port: port)
    }
}

/// Bytes in which a swapped, lost or doubled chunk shows, as they repeat after a prime number only.
func pattern(_ count: Int) -> [UInt8] {
    var state: UInt32 = 1
    let period = (0..<65_521).map { _ in
        state = state &* 1_664_525 &+ 1_013_904_223
        return UInt8(truncatingIfNeeded: state >> 24)
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + period.count)
    while bytes.count < count { bytes += period }
    bytes.removeLast(bytes.count - count)
    return bytes
}

/// What a test has seen, as a class so that escaping closures can write to it.
final class Log<Entry> {
    var entries: [Entry] = []

    func add(_ entry: Entry) {
        entries.append(entry)
    }
}

/// Sends back what it gets, reading no faster than the peer does.
final class Echo {
    private(set) var hasWaited = false
    private(set) var hasDrained = false

    func serve(_ stream: Stream) {
        stream.onDrain = { [self, unowned stream] in
            hasDrained = true
            stream.resumeReading()
        }
        stream.startReading { [self, unowned stream] bytes in
            if stream.write([OutputBuffer(bytes)]) == .draining {
                hasWaited = true
                stream.stopReading()
            }
        } onEnd: { [unowned stream] error in
            #expect(error.isEOF)
            stream.shutdown { _ in stream.close() }
        }
    }
}

/// A connected pair of TCP streams, handed to `body` when both ends are there.
func withPair(_ loop: Loop, _ body: @escaping (_ client: TCP, _ server: TCP) -> Void) throws {
    var client: TCP?
    var server: TCP?
    func ready() {
        if let client, let server { body(client, server) }
    }
    var listener: Listener?
    listener = try Listener.tcp(loop, address: .loopback()) { stream in
        server = stream
        listener?.close()
        listener = nil
        ready()
    }
    let address = try #require(listener?.localAddress)
    TCP.connect(loop, to: address) { result in
        client = result.orRecord()
        ready()
    }
}
