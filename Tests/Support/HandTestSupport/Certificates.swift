import Foundation

/// Certificates for tests, made by the `openssl` command: an authority, and the certificates that it has signed.
package struct Certificates: Sendable {
    private let folder: TemporaryFolder

    /// A certificate that could not be made.
    package struct Failure: Error {
        let arguments: [String]
    }

    package init(_ folder: TemporaryFolder) throws {
        self.folder = folder
        try Self.openssl([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj",
            "/CN=an authority", "-keyout", authorityKey, "-out", authority,
        ])
    }

    /// The file with the authority's certificate.
    package var authority: String { folder.path + "/ca.pem" }
    private var authorityKey: String { folder.path + "/ca.key" }

    /// Makes a certificate and its key.
    ///
    /// - Parameters:
    ///   - names: the names in the certificate, such as `DNS:localhost` or `IP:127.0.0.1`.
    ///   - days: how long the certificate is valid; it has expired if this is negative.
    ///   - bits: the size of an RSA key, or nil for an elliptic-curve key.
    package func make(
        _ file: String, for names: String, days: Int = 2, bits: Int? = nil
    ) throws -> (certificate: String, key: String) {
        let (path, key, request, extensions) = (
            "\(folder.path)/\(file).pem", "\(folder.path)/\(file).key", "\(folder.path)/\(file).csr",
            "\(folder.path)/\(file).ext"
        )
        try "subjectAltName=\(names)\n".write(toFile: extensions, atomically: true, encoding: .utf8)
        let kind = bits.map { ["rsa:\($0)"] } ?? ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
        try Self.openssl(
            ["req", "-newkey"] + kind + ["-nodes", "-subj", "/CN=\(file)", "-keyout", key, "-out", request])
        try Self.openssl([
            "x509", "-req", "-in", request, "-CA", authority, "-CAkey", authorityKey, "-CAcreateserial", "-days",
            "\(days)",
            "-extfile", extensions, "-out", path,
        ])
        return (path, key)
    }

    /// Encrypts a private key. Returns the new file's path.
    package func encrypted(_ key: String) throws -> String {
        try Self.openssl(["pkey", "-in", key, "-aes128", "-passout", "pass:secret", "-out", key + ".encrypted"])
        return key + ".encrypted"
    }

    private static func openssl(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(arguments: arguments) }
    }
}
