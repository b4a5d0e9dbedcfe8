import Foundation
import HandTestSupport
import Testing

/// The server with TLS, as operators run it.
@Suite(.serialized) struct SecureServerTests {
    /// Starts a server that listens on a port of its own with TLS.
    private static func start(
        _ folder: TemporaryFolder, _ own: (certificate: String, key: String), _ more: [String] = [],
        logPath: String? = nil
    ) throws -> (server: RunningServer, url: String) {
        let options = ["--listen", "127.0.0.1:0", "--tls-cert", own.certificate, "--tls-key", own.key]
        let server = try RunningServer(folder, options + more, logPath: logPath)
        let url = try #require(server.greeting.firstMatch(of: /hands:\/\/127\.0\.0\.1:[0-9]+/)?.0)
        return (server, String(url))
    }

    private static func hand(_ arguments: [String], _ folder: TemporaryFolder, ca: String?) throws -> Binary.Outcome {
        var environment = ["XDG_STATE_HOME": folder.path, "XDG_CONFIG_HOME": folder.path]
        if let ca { environment["HAND_CA"] = ca }
        return try Binary.run(arguments + ["--timeout", "60"], environment: environment)
    }

    @Test func listsAreServedOnlyOverTLS() throws {
        let folder = try TemporaryFolder()
        let certificates = try Certificates(folder)
        let (server, url) = try Self.start(folder, try certificates.make("server", for: "IP:127.0.0.1"))
        defer { server.kill() }
        let created = try Self.hand(["create", "--url", url, "groceries"], folder, ca: certificates.authority)
        #expect(created.status == 0, "\(created.messages)")
        let added = try Self.hand(["add", "--url", url + "/groceries", "milk"], folder, ca: certificates.authority)
        #expect(added.status == 0, "\(added.messages)")
        #expect(
            try Self.hand(["ls", "--url", url + "/groceries"], folder, ca: certificates.authority).output.contains(
                "milk"))
        let stranger = try Self.hand(["ls", "--url", url + "/groceries"], folder, ca: nil)
        #expect(stranger.status == 6 && stranger.messages.contains("not trusted"), "\(stranger.messages)")
        let plain = try Self.hand(
            ["ls", "--url", url.replacing("hands:", with: "hand:") + "/groceries"], folder, ca: nil)
        #expect(plain.status == 6, "\(plain.messages)")
        let load = try Binary.run(
            ["load", "--url", url, "--clients", "20", "--duration", "1s"],
            environment: ["HAND_CA": certificates.authority])
        #expect(load.status == 0 && load.output.contains("converged"), "\(load.output) \(load.messages)")
    }

    /// The address of a link is one that the certificate has; the server recommends the same.
    @Test(arguments: [
        ("IP:127.0.0.1,DNS:lists.example.org", "127.0.0.1", "lists.example.org"),
        ("DNS:lists.example.org", "lists.example.org", "lists.example.org"), ("IP:127.0.0.1", "127.0.0.1", "127.0.0.1"),
        ("DNS:*.example.org", nil, nil),
    ])
    func addressesAreInTheCertificate(names: String, onLoopback: String?, onAll: String?) throws {
        let folder = try TemporaryFolder()
        let own = try Certificates(folder).make("server", for: names)
        let file = folder.path + "/serve.toml"
        for (listen, expected) in [("127.0.0.1", onLoopback), ("0.0.0.0", onAll)] {
            try """
            listen = ["\(listen):7777"]
            tls-cert = "\(own.certificate)"
            tls-key = "\(own.key)"
            data = "\(folder.path)/other"
            """.write(toFile: file, atomically: true, encoding: .utf8)
            let shared = try Binary.run(
                ["share", "groceries"], environment: ["HAND_CONFIG": file, "XDG_CONFIG_HOME": folder.path])
            if let expected {
                #expect(
                    shared.output.hasPrefix("hands://\(expected):7777/groceries#"),
                    "\(shared.output) \(shared.messages)")
            } else {
                #expect(shared.status == 2 && shared.messages.contains("--url"), "\(shared.messages)")
            }
        }
    }

    /// Each of several hosts must be the one that its certificate names; others are skipped.
    @Test func aHostOutsideTheCertificateIsSkipped() throws {
        let folder = try TemporaryFolder()
        let certificates = try Certificates(folder)
        let (server, url) = try Self.start(folder, try certificates.make("server", for: "DNS:localhost"))
        defer { server.kill() }
        let port = url.split(separator: ":").last ?? ""
        let both = "hands://127.0.0.1:\(port),localhost:\(port)"
        let outcome = try Self.hand(["create", "--url", both, "groceries"], folder, ca: certificates.authority)
        #expect(outcome.status == 0, "\(outcome.messages)")
        let load = try Binary.run(
            ["load", "--url", both, "--clients", "3", "--duration", "1s"],
            environment: ["HAND_CA": certificates.authority])
        #expect(load.status == 0 && load.output.contains("converged"), "\(load.output) \(load.messages)")
    }

    /// A new certificate is used without a restart; an invalid file leaves the old one in use.
    @Test func certificatesAreReloaded() throws {
        let folder = try TemporaryFolder()
        let certificates = try Certificates(folder)
        let own = try certificates.make("server", for: "DNS:elsewhere")
        let (server, url) = try Self.start(folder, own)
        defer { server.kill() }
        func isTaken() throws -> Bool {
            try Self.hand(["lists", "--url", url], folder, ca: certificates.authority).status == 0
        }
        #expect(try !isTaken())
        _ = try certificates.make("server", for: "IP:127.0.0.1")
        server.hangUp()
        #expect(try (0..<100).contains { _ in try isTaken() })
        try "nonsense".write(toFile: own.certificate, atomically: true, encoding: .utf8)
        server.hangUp()
        for _ in 0..<5 { #expect(try isTaken()) }
    }

    /// An operator is warned of a certificate that nobody will trust.
    @Test(arguments: [
        (-1, "has expired, 1 day ago"), (0, "less than a day"), (2, "expires in"), (30, ""),
    ])
    func expiringCertificatesAreReported(days: Int, said: String) throws {
        let folder = try TemporaryFolder()
        let own = try Certificates(folder).make("server", for: "IP:127.0.0.1", days: days)
        let log = folder.path + "/log"
        let (server, _) = try Self.start(folder, own, ["--log-level", "warning"], logPath: log)
        #expect(server.terminate() == 0)
        let text = try String(contentsOfFile: log, encoding: .utf8)
        #expect(said.isEmpty ? text.isEmpty : text.contains("the certificate") && text.contains(said), "\(text)")
    }

    /// An operator is warned of a key that everybody on the machine can read; the server's group may.
    @Test(arguments: [0o644, 0o640]) func aReadableKeyIsReported(mode: Int) throws {
        let folder = try TemporaryFolder()
        let own = try Certificates(folder).make("server", for: "IP:127.0.0.1", days: 30)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: own.key)
        let log = folder.path + "/log"
        let (server, _) = try Self.start(folder, own, ["--log-level", "warning"], logPath: log)
        #expect(server.terminate() == 0)
        let warns = try String(contentsOfFile: log, encoding: .utf8).contains(
            "every user of this machine can read the TLS key: chmod o-r \(own.key)")
        #expect(warns == (mode == 0o644))
    }

    /// A server that admits only clients with a certificate of its authority, and people who have one, or not.
    @Test func clientsMayNeedCertificates() throws {
        let folder = try TemporaryFolder()
        let certificates = try Certificates(folder)
        let (own, ada) = (
            try certificates.make("server", for: "IP:127.0.0.1"), try certificates.make("ada", for: "DNS:ada")
        )
        let elsewhere = try TemporaryFolder()
        let stranger = try Certificates(elsewhere).make("ada", for: "DNS:ada")
        let audit = folder.path + "/audit"
        let (server, url) = try Self.start(folder, own, ["--tls-client-ca", certificates.authority, "--audit", audit])
        defer { server.kill() }
        func hand(_ words: [String], _ more: [String: String]) throws -> Binary.Outcome {
            let environment = [
                "XDG_STATE_HOME": folder.path, "XDG_CONFIG_HOME": folder.path, "HAND_CA": certificates.authority,
            ]
            return try Binary.run(
                words + ["--url", url, "--timeout", "60"], environment: environment.merging(more) { $1 })
        }
        let both = ["HAND_CERT": ada.certificate, "HAND_CERT_KEY": ada.key]
        #expect(try hand(["create", "groceries"], both).status == 0)
        // Both in one file.
        let joined = folder.path + "/ada.both"
        let parts = try [ada.certificate, ada.key].map { try String(contentsOfFile: $0, encoding: .utf8) }
        try parts.joined().write(toFile: joined, atomically: true, encoding: .utf8)
        #expect(try hand(["lists"], ["HAND_CERT": joined]).output.contains("groceries"))
        let load = try Binary.run(
            ["load", "--url", url, "--clients", "3", "--duration", "1s"],
            environment: both.merging(["HAND_CA": certificates.authority]) { $1 })
        #expect(load.status == 0, "\(load.messages)")
        // Set in the configuration file.
        let settings = folder.path + "/hand/config.toml"
        try FileManager.default.createDirectory(atPath: folder.path + "/hand", withIntermediateDirectories: true)
        try "cert = '\(ada.certificate)'\ncert-key = '\(ada.key)'\n".write(
            toFile: settings, atomically: true, encoding: .utf8)
        #expect(try hand(["lists"], [:]).output.contains("groceries"))
        // The environment takes precedence: a certificate that a stranger has signed, one without its key, a key alone,
        // none.
        let others = ["HAND_CERT": stranger.certificate, "HAND_CERT_KEY": stranger.key]
        let foreign = try hand(["lists"], others)
        #expect(foreign.status == 6 && foreign.messages.contains("accepts only client certificates"), "\(foreign)")
        let halves = try hand(["lists"], ["HAND_CERT": ada.certificate])
        #expect(halves.status == 2 && halves.messages.contains("holds no private key"), "\(halves.messages)")
        let key = try hand(["lists"], ["HAND_CERT_KEY": ada.key])
        #expect(key.status == 2 && key.messages.contains("$HAND_CERT is not set"), "\(key.messages)")
        try FileManager.default.removeItem(atPath: settings)
        let none = try hand(["lists"], [:])
        #expect(none.status == 6 && none.messages.contains("the server asks who you are"), "\(none.messages)")
        // Who was refused is in the audit log.
        for reason in ["the certificate is not trusted: ", "peer did not return a certificate"] {
            let entry = try Regex(#""event":"turnedAway","peer":"127\.0\.0\.1:[0-9]+","detail":"TLS: "# + reason)
            #expect(try eventually { try String(contentsOfFile: audit, encoding: .utf8).contains(entry) }, "\(reason)")
        }
    }

    /// A client with a certificate resumes its first TLS session.
    @Test func aSessionIsResumed() throws {
        let folder = try TemporaryFolder()
        let certificates = try Certificates(folder)
        let (own, client) = (
            try certificates.make("server", for: "IP:127.0.0.1"), try certificates.make("client", for: "DNS:client")
        )
        let (server, url) = try Self.start(folder, own, ["--tls-client-ca", certificates.authority])
        defer { server.kill() }
        for (option, said) in [("-sess_out", "New, "), ("-sess_in", "Reused, ")] {
            let outcome = try Binary.run(
                [
                    "openssl", "s_client", "-tls1_2", "-connect", String(url.dropFirst("hands://".count)), "-CAfile",
                    certificates.authority,
                    "-cert", client.certificate, "-key", client.key, option, folder.path + "/session",
                ], program: "/usr/bin/env")
            #expect(outcome.status == 0 && outcome.output.contains(said), "\(outcome.output) \(outcome.messages)")
        }
    }

    @Test func reachableAddressesMustBeEncrypted() throws {
        let folder = try TemporaryFolder()
        let refused = try Binary.run(["serve", "--listen", "0.0.0.0:0", "--data", folder.path + "/data"])
        #expect(refused.status == 2 && refused.messages.contains("--tls-cert"), "\(refused.messages)")
        for options in [
            ["--tls-cert", "x"], ["--tls-client-ca", "x"], ["--tls-cert", "/nowhere", "--tls-key", "/nowhere"],
        ] {
            let wrong = try Binary.run(["serve", "--listen", "127.0.0.1:0", "--data", folder.path + "/data"] + options)
            #expect(wrong.status == (options.contains("/nowhere") ? 3 : 2), "\(wrong.status) \(wrong.messages)")
        }
        let server = try RunningServer(folder, ["--listen", "0.0.0.0:0", "--insecure"])
        #expect(server.greeting.contains("hand://0.0.0.0:"))
        server.kill()
    }
}
