internal import CZlib

/// Compression for browsers.
enum Gzip {
    /// Returns the bytes in the format gzip (RFC 1952). O(bytes): about 50 ms for a megabyte.
    static func compressed(_ bytes: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        guard hand_begin_gzip(&stream) == Z_OK else { preconditionFailure("zlib cannot be set up") }
        defer { deflateEnd(&stream) }
        var input = bytes
        return [UInt8](unsafeUninitializedCapacity: Int(deflateBound(&stream, UInt(bytes.count)))) { room, count in
            input.withUnsafeMutableBufferPointer {
                stream.next_in = $0.baseAddress
                stream.avail_in = UInt32($0.count)
                stream.next_out = room.baseAddress
                stream.avail_out = UInt32(room.count)
                let result = deflate(&stream, Z_FINISH)
                precondition(result == Z_STREAM_END, "the room holds whatever zlib makes of the bytes")
            }
            count = Int(stream.total_out)
        }
    }
}
