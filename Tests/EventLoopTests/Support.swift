import EventLoop
import Glibc
import Testing

/// Makes a folder for a test's socket files. `withFolder` removes it with its contents.
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

/// Makes a loop that is closed at the end. The test fails if the loop still runs after a minute, and the loop is
/// stopped.
func withLoop(_ body: (Loop) throws -> Void) throws {
    let loop = try Loop()
    defer { loop.close() }
    let alarm = Timer(loop)
    alarm.unreference()
    alarm.start(after: 60_000, repeating: 60_000) {
        Issue.record("something keeps the loop running")
        loop.stop()
    }
    try body(loop)
}

extension Result {
    /// Returns the value, or nil after recording a failed test.
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

/// Returns bytes in which a swapped, lost or doubled chunk is visible, as they repeat only after a prime number.
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

/// The events that a test has seen, as a class so that escaping closures can write to it.
final class Log<Entry> {
    var entries: [Entry] = []

    func add(_ entry: Entry) {
        entries.append(entry)
    }
}

/// Sends back the bytes that it receives, reading no faster than the peer does.
final class Echo {
    private(set) var hasWaited = false
    private(set) var hasDrained = false

    func serve(_ stream: Stream) {
        stream.open { [self, unowned stream] bytes in
            if stream.write([OutputBuffer(bytes)]) == .draining {
                hasWaited = true
                stream.stopReading()
            }
        } onDrain: { [self, unowned stream] in
            hasDrained = true
            stream.resumeReading()
        } onEnd: { [unowned stream] end in
            #expect(end == .eof)
            stream.shutdown { _ in stream.close() }
        }
    }
}

/// Connects a pair of TCP streams, and passes them to `body` when both ends are connected.
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
