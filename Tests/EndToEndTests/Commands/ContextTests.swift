import Foundation
import HandTestSupport
import Testing

/// Servers under names of one's own.
@Suite(.serialized) struct ContextTests {
    private let folder: TemporaryFolder
    private let server: RunningServer
    private var url: String { "hand+unix://\(server.socket)" }
    private var contexts: String { folder.path + "/config/hand/contexts" }
    private static let nowhere = "hand+unix:///nowhere/hand.sock"

    init() throws {
        folder = try TemporaryFolder()
        server = try RunningServer(folder)
    }

    private func hand(_ arguments: [String], _ environment: [String: String] = [:]) throws -> Binary.Outcome {
        let folders = ["XDG_STATE_HOME": folder.path + "/state", "XDG_CONFIG_HOME": folder.path + "/config"]
        return try Binary.run(arguments, environment: folders.merging(environment) { $1 })
    }

    @discardableResult
    private func hand(
        _ arguments: String..., environment: [String: String] = [:], expecting status: Int32 = 0
    ) throws -> String {
        let outcome = try hand(arguments, environment)
        #expect(outcome.status == status, "\(arguments): \(outcome.messages)")
        return status == 0 ? outcome.output : outcome.messages
    }

    private func mode(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test func aContextIsNamedBeforeOrAfterTheCommandOrInTheEnvironment() throws {
        try hand("context", "add", "home", url + "/groceries", "--as", "ada")
        try hand("-c", "home", "create", "groceries")
        #expect(try hand("--context=home", "add", "milk").isEmpty)
        #expect(try hand("ls", "-c", "home").contains("milk"))
        for option in ["-chome", "-c=home"] { #expect(try hand(option, "ls").contains("milk")) }
        #expect(try hand("ls", "--context", "home", "--json").contains("milk"))
        let nowhere = ["HAND_CONTEXT": "home", "HAND_URL": Self.nowhere]
        #expect(try hand("log", environment: nowhere).contains("ada"), "it takes precedence over $HAND_URL")
        try hand("ls", "-c", "home", "--url", Self.nowhere + "/x", expecting: 6)
        try hand("-c", expecting: 2)
    }

    /// Each command says what it has done, also as JSON, or nothing.
    @Test func contextsAreForScriptsToo() throws {
        let made = #"{"name":"home","url":"\#(url)","as":"ada"}"#
        #expect(try hand("context", "add", "home", url, "--as", "ada", "--json") == made + "\n")
        #expect(try hand("context", "list", "--json").hasPrefix(made.dropLast()))
        #expect(try hand("context", "use", "home", "--json") == #"{"name":"home","url":"\#(url)"}"# + "\n")
        #expect(try hand("context", "use", "--json") == #"{"name":null}"# + "\n")
        #expect(try hand("context", "rm", "home", "--json") == #"{"name":"home","removed":true}"# + "\n")
        for command in [["add", "home", url], ["list"], ["use", "home"], ["use"], ["rm", "home"], ["list"]] {
            let outcome = try hand(["context"] + command + ["-q"])
            #expect(outcome.status == 0 && outcome.messages == "", "\(command): \(outcome)")
        }
    }

    /// The context in use counts less than the environment, and more than the configuration file.
    @Test func theContextInUseIsTheDefault() throws {
        try hand("context", "add", "home", url)
        try hand("context", "add", "lab.2", Self.nowhere)
        try "url = \"\(Self.nowhere)\"".write(
            toFile: folder.path + "/config/hand/config.toml", atomically: true, encoding: .utf8)
        try hand("lists", expecting: 6)
        try hand("context", "use", "home")
        try hand("lists")
        #expect(try hand("context") == "* home\t\(url)\n  lab.2\t\(Self.nowhere)\n")
        try hand("lists", environment: ["HAND_URL": Self.nowhere], expecting: 6)
        try hand("-c", "lab.2", "lists", expecting: 6)
        try hand("context", "use")
        try hand("lists", expecting: 6)
        try hand("context", "use", "home")
        try hand("context", "rm", "home")
        try hand("lists", expecting: 6)
        #expect(
            try hand("context", "list", "--json")
                == "{\"name\":\"lab.2\",\"url\":\"\(Self.nowhere)\",\"as\":null,\"current\":false}\n")
    }

    @Test func contextsAreStoredPrivately() throws {
        try hand("context", "add", "home", url + "#secret")
        #expect(try mode(contexts) == 0o700)
        #expect(try mode(contexts + "/home.toml") == 0o600)
        #expect(try String(contentsOfFile: contexts + "/home.toml", encoding: .utf8).contains("token = \"secret\""))
        #expect(try !hand("context").contains("secret"))
        #expect(chmod(contexts + "/home.toml", 0o644) == 0)
        #expect(try hand(["-c", "home", "lists"]).messages.contains("chmod 600"))
        try hand("context", "add", "home", url, expecting: 7)
        try hand("context", "add", "home", url, "--replace")
        #expect(try mode(contexts + "/home.toml") == 0o600)
        #expect(try !String(contentsOfFile: contexts + "/home.toml", encoding: .utf8).contains("secret"))
    }

    /// A token is sent only to the server of its context, and no other token is sent there.
    @Test func tokensStayWithTheirServers() throws {
        let data = folder.path + "/data"
        let secret = try Binary.run(["token", "create", "ada", "--role", "admin", "--data", data]).output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        _ = try Binary.run(["token", "guests", "--local", "none", "--data", data])
        let guarded = try RunningServer(folder)
        defer { guarded.kill() }
        let url = "hand+unix://\(guarded.socket)"
        try hand("context", "add", "with", url + "#" + secret)
        try hand("context", "add", "without", url)
        try hand("context", "add", "other", Self.nowhere + "#" + secret)
        try hand("-c", "with", "lists")
        try hand("-c", "without", "lists", expecting: 5)
        try hand("-c", "with", "lists", environment: ["HAND_TOKEN": "wrong"])
        #expect(try hand("lists", "-c", "other", "--url", url, expecting: 5).contains("other.toml was not sent"))
        try hand("context", "use", "other")
        let kept = try hand("-c", "without", "lists", environment: ["HAND_TOKEN": secret], expecting: 5)
        #expect(kept.contains("$HAND_TOKEN was not sent"), "\(kept)")
        try hand("context", "use", "without")
        try hand("lists", environment: ["HAND_TOKEN": secret])
        let token = "token = \"\(secret)\""
        try token.write(toFile: folder.path + "/config/hand/config.toml", atomically: true, encoding: .utf8)
        try hand("lists", expecting: 5)
    }

    @Test func errorsInContextsAreReported() throws {
        #expect(try hand("-c", "work", "lists", expecting: 3).contains("there is no context 'work'. Make it"))
        try hand("context", "add", "work", url)
        #expect(try hand("-c", "wrok", "lists", expecting: 3).contains("work"))
        #expect(try hand("context", "use", "wrok", expecting: 3).contains("work"))
        #expect(try hand("context", "rm", "wrok", expecting: 3).contains("work"))
        for name in ["", ".hidden", "a/b", "a b", "-x", String(repeating: "n", count: 65)] {
            try hand("context", "add", "--", name, url, expecting: 2)
        }
        try hand("context", "add", "x", "nonsense", expecting: 2)
        try hand("context", "add", "x", url, "--ca", "/nowhere.pem", expecting: 3)
        try hand("context", "add", "x", url, "--cert-key", "/nowhere.pem", expecting: 2)
        try hand("context", "add", "x", url, "--ask-token", "--ask-each-time", expecting: 2)
        try "name = \"ada\"".write(toFile: contexts + "/work.toml", atomically: true, encoding: .utf8)
        #expect(try hand("-c", "work", "lists", expecting: 2).contains("expected the server's address"))
        try hand("context", "rm", "work")
        try hand("context", "add", "gone", url)
        try hand("context", "use", "gone")
        try FileManager.default.removeItem(atPath: contexts + "/gone.toml")
        #expect(try hand("lists", expecting: 3).contains("hand context use"))
    }

    @Test func anotherServerNeedsNoContext() throws {
        try hand("context", "add", "home", Self.nowhere)
        try hand("context", "use", "home")
        try FileManager.default.removeItem(atPath: contexts + "/home.toml")
        try hand("lists", "--url", url)
        try hand("lists", environment: ["HAND_URL": url])
        #expect(try hand("lists", expecting: 3).contains("'home', no longer exists"))
    }

    @Test func aBrokenContextHidesNoOther() throws {
        try hand("context", "add", "home", url)
        try "url = ".write(toFile: contexts + "/broken.toml", atomically: true, encoding: .utf8)
        let lines = try hand("context").split(separator: "\n")
        #expect(lines.count == 2 && lines[1] == "  home\t\(url)", "\(lines)")
        #expect(lines[0].hasPrefix("! broken\tunreadable: ") && lines[0].contains("broken.toml"), "\(lines)")
        let problem = try #require(try hand("context", "list", "--json").split(separator: "\n").first)
        #expect(problem.contains(#""name":"broken","problem":"#), "\(problem)")
        for word in ["remove", "delete"] {
            #expect(try hand("context", word, "home", expecting: 2).contains("Did you mean 'rm'?"))
        }
    }

    @Test func advisedCommandsNameTheSameServer() throws {
        try hand("context", "add", "home", url)
        let made = try hand(["-c", "home", "create", "groceries"])
        #expect(made.messages == "created 'groceries'; add to it with: hand -c home add -l groceries TEXT\n")
        let other = try hand(["create", "tools", "--url", url])
        #expect(other.messages == "created 'tools'; add to it with: hand add -l tools TEXT --url \(url)\n")
        let missing = try hand(["ls", "-c", "home", "-l", "weekend"])
        #expect(missing.messages.hasSuffix("Make it with: hand -c home create weekend\n"), "\(missing.messages)")
    }

    @Test func certificatesAreFoundFromAnywhere() throws {
        let certificates = try Certificates(folder)
        // One second less, or not valid yet.
        for (days, finding) in [
            (2, #/warning  certificate  .* is trusted, and valid for (1 more day|2 more days)\n/#),
            (100, #/ok       certificate  .* is trusted, and valid for (99|100) more days\n/#),
        ] {
            let own = try certificates.make("server", for: "IP:127.0.0.1", days: days)
            let secure = try RunningServer(
                try TemporaryFolder(), ["--listen", "127.0.0.1:0", "--tls-cert", own.certificate, "--tls-key", own.key])
            defer { secure.kill() }
            let url = String(try #require(secure.greeting.firstMatch(of: /hands:\/\/127\.0\.0\.1:[0-9]+/)?.0))
            try hand("context", "add", "tls", url, "--ca", certificates.authority, "--replace")
            try hand("-c", "tls", "lists")
            let doctor = try hand("-c", "tls", "doctor")
            #expect(doctor.contains(finding), "\(doctor)")
            let plain = url.replacing("hands:", with: "hand:")
            #expect(try hand("lists", "--url", plain, expecting: 6).contains("its address begins with hands://"))
        }
    }
}
