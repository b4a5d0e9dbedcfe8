internal import CDeflate

/// Compression for browsers.
enum Gzip {
    /// Returns the bytes in the format gzip (RFC 1952), as few as can be. O(bytes): about 120 ms for a megabyte.
    static func compressed(_ bytes: [UInt8]) -> [UInt8] {
        let most: Int32 = 12
        guard let compressor = libdeflate_alloc_compressor(most) else { fatalError("no memory to compress with") }
        defer { libdeflate_free_compressor(compressor) }
        let room = libdeflate_gzip_compress_bound(compressor, bytes.count)
        return [UInt8](unsafeUninitializedCapacity: room) { room, count in
            count = libdeflate_gzip_compress(compressor, bytes, bytes.count, room.baseAddress, room.count)
        }
    }
}
