internal import COpenSSL

/// Digests of secrets, so that the secrets themselves need not be stored.
package enum Fingerprint {
    /// Returns the SHA-256 as hexadecimal digits.
    package static func sha256(_ text: String) -> String {
        precondition(TLSContext.isSetUp, "OpenSSL cannot be set up")
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        let bytes = Array(text.utf8)
        SHA256(bytes, bytes.count, &digest)
        return digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
