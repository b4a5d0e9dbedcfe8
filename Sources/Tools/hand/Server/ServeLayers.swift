import Files
import Foundation
import HandFormats
import TOMLKit

/// What is set for 'hand serve' below its command line: in the environment, and below that in the configuration file.
///
/// Both become options that stand before those of the command line, where the last one holds; so each value is read, checked
/// and refused in one place, wherever it comes from.
struct ServeLayers {
    /// What one place says: the arguments that a setting becomes, by the setting's name.
    struct Layer {
        let origin: String
        var arguments: [String: [String]] = [:]
    }

    /// The weakest first.
    private let layers: [Layer]
    private let commandLine: [String]

    /// - Parameter arguments: of the command line, behind `serve`.
    init(_ arguments: [String], environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        commandLine = arguments
        let named =
            Self.value(of: "config", in: arguments) ?? environment["HAND_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
        layers = [
            try Self.file(at: named ?? Settings.serveFile, mustExist: named != nil),
            try Self.environment(environment),
        ]
    }

    /// The whole command line: what is set below, then what was given.
    var arguments: [String] {
        ServeSetting.all.flatMap { setting in
            isGiven(setting.name)
                ? [] : layers.last { $0.arguments[setting.name] != nil }?.arguments[setting.name] ?? []
        } + commandLine
    }

    /// Where a setting has its value from.
    func origin(of name: String) -> String {
        if isGiven(name) { return "the command line" }
        return layers.last { $0.arguments[name] != nil }?.origin ?? "default"
    }

    /// A message about options, and where those are set that it is about.
    func explained(_ message: String) -> String {
        let notes = ServeSetting.all.filter { setting in
            !isGiven(setting.name) && layers.contains { $0.arguments[setting.name] != nil }
                && message.firstRange(of: "--\(setting.name)") != nil
        }.map { "\n'\($0.name)' is set in \(origin(of: $0.name))." }
        return message + notes.joined()
    }

    /// What is set below the command line; nil if nothing is.
    func text(of name: String) -> String? {
        let argument = layers.last { $0.arguments[name] != nil }?.arguments[name]?.first
        return argument.map { String($0.dropFirst("--\(name)=".count)) }
    }

    private func isGiven(_ name: String) -> Bool {
        commandLine.contains { $0 == "--\(name)" || $0.hasPrefix("--\(name)=") || $0 == "--no-\(name)" }
    }

    private static func value(of name: String, in arguments: [String]) -> String? {
        if let joined = arguments.last(where: { $0.hasPrefix("--\(name)=") }) {
            return String(joined.dropFirst(name.count + 3))
        }
        guard let index = arguments.lastIndex(of: "--\(name)"), index + 1 < arguments.count else { return nil }
        return arguments[index + 1]
    }

    // MARK: The environment

    private static func environment(_ environment: [String: String]) throws -> Layer {
        var layer = Layer(origin: "the environment")
        let kinds = try Serve.parse([])
        for setting in ServeSetting.all {
            guard let text = environment[setting.variable], !text.isEmpty else { continue }
            switch setting.value(kinds) {
            case .texts:
                layer.arguments[setting.name] = text.split(separator: ",").map { "--\(setting.name)=\($0)" }
            case .flag:
                guard let flag = ["1": true, "true": true, "0": false, "false": false][text] else {
                    throw Failure(.usage, "$\(setting.variable): expected true or false, found '\(text)'")
                }
                layer.arguments[setting.name] = ["--\(flag ? "" : "no-")\(setting.name)"]
            default: layer.arguments[setting.name] = ["--\(setting.name)=\(text)"]
            }
        }
        return layer
    }

    // MARK: The file

    private static func file(at path: String, mustExist: Bool) throws -> Layer {
        var layer = Layer(origin: path)
        guard let data = FileManager.default.contents(atPath: path) else {
            do { _ = try PrivateFile.read(path) } catch { throw Failure(.usage, "the configuration file: \(error)") }
            if mustExist { throw Failure(.usage, "the configuration file \(path) cannot be read") }
            return layer
        }
        let table: TOMLTable
        do { table = try TOMLTable(string: String(decoding: data, as: UTF8.self)) } catch let error as TOMLParseError {
            throw Failure(.usage, "\(path), line \(error.source.begin.line): \(Printable.clean(error.description))")
        }
        let kinds = try Serve.parse([])
        let settings = Dictionary(uniqueKeysWithValues: ServeSetting.all.map { ($0.name, $0) })
        for (key, value) in table {
            guard let setting = settings[key] else {
                throw Failure(
                    .usage,
                    "\(path): unknown setting '\(Printable.clean(key))'."
                        + Spelling.question(key, among: settings.keys.sorted())
                        + " 'hand serve --print-config' lists all.")
            }
            guard let arguments = Self.arguments(setting, value, like: setting.value(kinds)) else {
                throw Failure(
                    .usage,
                    "\(path): \(key): expected \(setting.value(kinds).kind), found a value of type \(value.type)")
            }
            layer.arguments[key] = arguments
        }
        return layer
    }

    private static func arguments(
        _ setting: ServeSetting, _ value: any TOMLValueConvertible, like kind: ServeSetting.Value
    ) -> [String]? {
        func option(_ text: some CustomStringConvertible) -> [String] { ["--\(setting.name)=\(text)"] }
        switch kind {
        case .text: return value.string.map(option)
        case .number: return value.int.map(option)
        case .decimal: return value.double.map(option) ?? value.int.map(option)
        case .flag: return value.bool.map { ["--\($0 ? "" : "no-")\(setting.name)"] }
        case .texts:
            if let text = value.string { return option(text) }
            guard let array = value.array else { return nil }
            let texts = array.compactMap { $0.string }
            return texts.count == array.count ? texts.flatMap(option) : nil
        }
    }
}

extension ServeSetting.Value {
    /// What is expected of a value in a file.
    fileprivate var kind: String {
        switch self {
        case .text: "a text in quotes"
        case .texts: "a list of texts, as [\"127.0.0.1:7777\"]"
        case .number: "a whole number"
        case .decimal: "a number"
        case .flag: "true or false"
        }
    }
}
