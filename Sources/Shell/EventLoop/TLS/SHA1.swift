internal import COpenSSL

/// The hash that old protocols ask for. It protects nothing.
package enum SHA1 {
    /// The hash of some bytes, in Base64.
    package static func base64(of bytes: [UInt8]) -> String {
        var hash = [UInt8](repeating: 0, count: 20)
        EVP_Digest(bytes, bytes.count, &hash, nil, EVP_sha1(), nil)
        // 28 digits and a zero.
        var text = [UInt8](repeating: 0, count: 29)
        EVP_EncodeBlock(&text, hash, Int32(hash.count))
        return String(decoding: text.dropLast(), as: UTF8.self)
    }
}
