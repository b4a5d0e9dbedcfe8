internal import COpenSSL

/// What one connection of OpenSSL reads from and writes to, instead of a socket.
///
/// OpenSSL's own memory BIO is not used: its memory is cleared before each output, the output is copied twice, and each
/// connection keeps as much memory as its largest output took.
final class Transport {
    private let stream: any Channel
    private let output: TransportOutput
    /// Input of earlier calls that OpenSSL has not read. Few connections ever have such input.
    private var kept: ArraySlice<UInt8> = []
    /// The input that has arrived in this call; it follows `kept`.
    private var arrived = UnsafeRawBufferPointer(start: nil, count: 0)

    /// Becomes the transport of `ssl`, which retains it.
    ///
    /// - Parameter output: shared by all connections of a thread.
    init?(of ssl: OpaquePointer, _ stream: any Channel, _ output: TransportOutput) {
        guard let bio = BIO_new(Self.method) else { return nil }
        self.stream = stream
        self.output = output
        BIO_set_data(bio, Unmanaged.passRetained(self).toOpaque())
        BIO_set_init(bio, 1)
        // Without input, OpenSSL has to wait: more will arrive.
        BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
        SSL_set_bio(ssl, bio, bio)
        SSL_set_msg_callback(ssl) { isWritten, _, type, _, _, ssl, _ in
            if isWritten == 0, type == SSL3_RT_HANDSHAKE { Transport.of(SSL_get_rbio(ssl)).sawMessage() }
        }
    }

    // MARK: Messages

    /// The number of handshake messages since the handshake, such as those for new keys; nil while they are not
    /// counted.
    var lateMessages: Int?
    static let maxLateMessages = 16

    private func sawMessage() {
        guard let count = lateMessages else { return }
        lateMessages = count + 1
        // Otherwise one call of OpenSSL would process all the messages that have arrived.
        if count >= Self.maxLateMessages { dropInput() }
    }

    // MARK: Input

    var hasInput: Bool { !kept.isEmpty || !arrived.isEmpty }

    /// Lets OpenSSL read the bytes during `body`, after the kept bytes of earlier calls. Bytes that OpenSSL has not
    /// read are copied.
    func receive(_ bytes: UnsafeRawBufferPointer, _ body: () -> Void) {
        arrived = bytes
        body()
        if !arrived.isEmpty { kept += arrived }
        arrived = UnsafeRawBufferPointer(start: nil, count: 0)
    }

    private func read(into room: UnsafeMutableRawBufferPointer) -> Int {
        if kept.isEmpty {
            let count = min(room.count, arrived.count)
            room.copyMemory(from: UnsafeRawBufferPointer(rebasing: arrived[..<count]))
            arrived = UnsafeRawBufferPointer(rebasing: arrived[count...])
            return count
        }
        let count = min(room.count, kept.count)
        room.copyBytes(from: kept.prefix(count))
        kept = count < kept.count ? kept.dropFirst(count) : []
        return count
    }

    private func dropInput() {
        kept = []
        arrived = UnsafeRawBufferPointer(start: nil, count: 0)
    }

    // MARK: Output

    private func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        if output.isFull { send() }
        return output.append(bytes)
    }

    /// Passes OpenSSL's output to the stream. Call this after each call of OpenSSL, before another connection uses the
    /// shared output.
    @discardableResult
    func send() -> WriteResult {
        guard !output.bytes.isEmpty else { return stream.isWriting ? .draining : .written }
        defer { output.removeAll() }
        // The system nearly always takes all at once, and then nothing is copied.
        let rest = UnsafeRawBufferPointer(rebasing: output.bytes[stream.writeNow(output.bytes)...])
        return rest.isEmpty ? .written : stream.write([OutputBuffer(rest)])
    }

    // MARK: OpenSSL's view

    // Made once and never changed.
    nonisolated(unsafe) private static let method: OpaquePointer? = {
        let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "hand")
        BIO_meth_set_read(method) { bio, room, count in
            let count = Transport.of(bio).read(into: UnsafeMutableRawBufferPointer(start: room, count: Int(count)))
            return count > 0 ? Int32(count) : -1
        }
        BIO_meth_set_write(method) { bio, bytes, count in
            Int32(Transport.of(bio).write(UnsafeRawBufferPointer(start: bytes, count: Int(count))))
        }
        BIO_meth_set_ctrl(method) { _, command, _, _ in
            command == BIO_CTRL_FLUSH ? 1 : 0
        }
        BIO_meth_set_destroy(method) { bio in
            if let data = BIO_get_data(bio) { Unmanaged<Transport>.fromOpaque(data).release() }
            return 1
        }
        return method
    }()

    private static func of(_ bio: OpaquePointer?) -> Transport {
        Unmanaged<Transport>.fromOpaque(BIO_get_data(bio)).takeUnretainedValue()
    }
}

/// Memory for OpenSSL's output. It is empty between calls of OpenSSL, so many connections can share it, and it stays in
/// the processor's cache.
final class TransportOutput {
    private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    private var count = 0

    deinit { memory.deallocate() }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    var isFull: Bool { count == memory.count }

    /// Returns how many of the bytes had room.
    func append(_ bytes: UnsafeRawBufferPointer) -> Int {
        let room = UnsafeMutableRawBufferPointer(rebasing: memory[count...])
        let taken = min(room.count, bytes.count)
        room.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<taken]))
        count += taken
        return taken
    }

    func removeAll() { count = 0 }
}
