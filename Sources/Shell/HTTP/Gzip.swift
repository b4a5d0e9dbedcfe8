internal import CDeflate

/// Compression for browsers.
enum Gzip {
    /// Returns the bytes in the format gzip (RFC 1952), at the highest level of compression. O(bytes): about 120 ms for
    /// a megabyte.
    static func compressed(_ bytes: [UInt8]) -> [UInt8] {
        let highest: Int32 = 12
        // A compressor needs a megabyte. A server that starts without one could serve nobody.
        guard let compressor = libdeflate_alloc_compressor(highest) else { fatalError("no memory to compress with") }
        defer { libdeflate_free_compressor(compressor) }
        let room = libdeflate_gzip_compress_bound(compressor, bytes.count)
        return [UInt8](unsafeUninitializedCapacity: room) { room, count in
            count = libdeflate_gzip_compress(compressor, bytes, bytes.count, room.baseAddress, room.count)
        }
    }
}
