import Disk
import FoundationEssentials
import HandFormats
import Synchronization

/// Servers that the user has named. Each context is a file with the same keys as the configuration file, in a folder
/// next to that file.
enum Contexts {
    struct Context {
        let name: String
        let file: Settings.File
        let address: HandAddress
    }

    /// The environment variable that names the context, if -c does not.
    static let variable = "HAND_CONTEXT"
    private static let option = Mutex<String?>(nil)

    private static var folder: String { Settings.configurationFolder + "/contexts" }
    /// The file that holds the name of the context in use.
    private static var choice: String { Settings.configurationFolder + "/context" }

    static func path(_ name: String) -> String { "\(folder)/\(name).toml" }

    // MARK: Reading

    /// Notes the name that -c gives. The context is looked up when it is needed.
    static func name(_ name: String) throws {
        if name.isEmpty { throw Failure(.usage, "-c: expected the name of a context; 'hand context list' shows all") }
        option.withLock { $0 = name }
    }

    /// The name that -c or $HAND_CONTEXT gives; nil if neither does.
    static var givenName: String? {
        let name = option.withLock(\.self) ?? ProcessInfo.processInfo.environment[variable]
        return name.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The context that -c or $HAND_CONTEXT names; nil if neither does.
    static func named() throws -> Context? { try givenName.map(existing) }

    /// The context that commands use if nothing else names a server; nil if there is none, or if it is gone.
    static func current() throws -> Context? { try currentName().flatMap(read) }

    /// The failure of commands that need the context in use, if it is gone.
    static func missing() throws -> Failure? {
        guard let name = try currentName(), try read(name) == nil else { return nil }
        return Failure(
            .notFound,
            "the context in use, '\(name)', no longer exists. Choose another: hand context use NAME, or none: hand context use"
        )
    }

    static func currentName() throws -> String? {
        guard let bytes = try PrivateFile.read(choice)?.bytes else { return nil }
        let name = String(String(decoding: bytes, as: UTF8.self).trimmed(\.isWhitespace))
        if name.isEmpty || isName(name) { return name.isEmpty ? nil : name }
        // Without this failure, commands would act on another server.
        throw Failure(
            .usage,
            "\(choice) does not hold the name of a context. Choose one: hand context use NAME, or none: hand context use"
        )
    }

    static func names() -> [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return files.filter { $0.hasSuffix(".toml") }.map { String($0.dropLast(5)) }.filter(isName).sorted()
    }

    static func existing(_ name: String) throws -> Context {
        if let context = try read(name) { return context }
        let names = names()
        let way = names.isEmpty ? " Make it: hand context add NAME ADDRESS" : " 'hand context list' shows all."
        throw Failure(
            .notFound,
            "there is no context '\(name)'." + Spelling.question(name, among: names) + way)
    }

    private static func read(_ name: String) throws -> Context? {
        guard isName(name), let file = try Settings.file(at: path(name)) else { return nil }
        guard let url = Settings.Layer.file(file).text(.url) else {
            throw Failure(
                .usage, "\(file.path): expected the server's address, such as url = \"hand://HOST:PORT\"; found none")
        }
        return Context(name: name, file: file, address: try HandAddress(url))
    }

    /// Whether a text can be the name of a file, and one word in a shell.
    static func isName(_ name: String) -> Bool {
        let marks = Set("-_.".utf8)
        let isPlain = name.utf8.allSatisfy { byte in
            marks.contains(byte) || byte.isDigit || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
        }
        return isPlain && (1...64).contains(name.utf8.count) && !name.hasPrefix(".") && !name.hasPrefix("-")
    }

    static func problem(withName name: String) -> String? {
        if isName(name) { return nil }
        return "'\(name)' cannot be a context's name: expected up to 64 letters, digits, - _ or dots."
    }

    // MARK: Writing

    /// Stores a context so that only this user can read it.
    static func write(_ name: String, _ texts: [Settings.Key: String]) throws {
        let lines = Settings.Key.allCases.compactMap { key in
            texts[key].map { "\(key.rawValue) = \(TOMLText.quoted($0))\n" }
        }
        try PrivateFile.makeFolder(folder)
        try PrivateFile.replace(path(name), with: Array(lines.joined().utf8))
        PrivateFile.tighten(path(name), to: 0o600)
    }

    /// Sets the context in use, or none.
    static func use(_ name: String?) throws {
        guard let name else { return try PrivateFile.remove(choice) }
        try PrivateFile.makeFolder(Settings.configurationFolder)
        try PrivateFile.replace(choice, with: Array("\(name)\n".utf8))
    }

    static func remove(_ name: String) throws {
        if (try? currentName()) == name { try use(nil) }
        try PrivateFile.remove(path(name))
    }
}
