internal import CBrotli

/// Compression for browsers. All of them read this format over TLS, and on their own machine.
enum Brotli {
    /// Returns the bytes in the format Brotli (RFC 7932), at the highest level of compression. O(bytes): about 1 ms a
    /// kilobyte.
    static func compressed(_ bytes: [UInt8]) -> [UInt8] {
        let room = BrotliEncoderMaxCompressedSize(bytes.count)
        return [UInt8](unsafeUninitializedCapacity: room) { room, count in
            count = room.count
            let isDone = BrotliEncoderCompress(
                BROTLI_MAX_QUALITY, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_TEXT, bytes.count, bytes, &count,
                room.baseAddress)
            // It fails for want of memory only. A server without some megabytes could serve nobody.
            guard isDone == BROTLI_TRUE else { fatalError("no memory to compress with") }
        }
    }
}
