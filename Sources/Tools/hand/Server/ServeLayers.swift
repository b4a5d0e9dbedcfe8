import ArgumentParser
import Disk
import FoundationEssentials
import HandFormats

/// The settings of 'hand serve' that do not come from the command line: the environment's, then the configuration
/// file's. The commands of a server's operator read the same layers, so that they find the server's data.
///
/// The settings become options in front of the options on the command line; of several values, the last one wins. So
/// the argument parser reads and checks every value, wherever it comes from.
struct ServeLayers {
    /// One source of settings, with the arguments of each setting by its name.
    struct Layer {
        let origin: String
        var arguments: [String: [String]] = [:]
    }

    /// The layers, the one with the lowest precedence first.
    private let layers: [Layer]
    private let commandLine: [String]
    private let settings: [ServeSetting]

    /// - Parameter arguments: the arguments after `serve` on the command line.
    init(_ arguments: [String], environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        commandLine = arguments
        settings = ServeSetting.all(of: try Serve.parse([]))
        let named =
            Arguments.value(of: ["--config"], in: arguments)
            ?? environment["HAND_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
        let path = named ?? (PackagedServer.isMeant(environment) ? PackagedServer.configuration : Settings.serveFile)
        let folder = Settings.serviceFolder ?? (path == PackagedServer.configuration ? PackagedServer.data : nil)
        layers = [
            Layer(
                origin: "default", arguments: ["data": ["--data=\(folder ?? Settings.stateFolder + "/server")"]]),
            try Self.file(at: path, isNamed: named != nil, settings),
            try Self.environment(environment, settings),
        ]
    }

    /// The layer with the highest precedence that has a setting.
    private func layer(of name: String) -> Layer? { layers.last { $0.arguments[name] != nil } }

    /// The settings of all layers as options, followed by the command line.
    var arguments: [String] {
        settings.flatMap { isGiven($0.name) ? [] : layer(of: $0.name)?.arguments[$0.name] ?? [] } + commandLine
    }

    /// Where a setting's value comes from.
    func origin(of name: String) -> String {
        isGiven(name) ? "the command line" : layer(of: name)?.origin ?? "default"
    }

    /// Appends to a message about options where these options are set.
    func explained(_ message: String) -> String {
        let notes = settings.filter { setting in
            !isGiven(setting.name) && message.firstRange(of: "--\(setting.name)") != nil
        }.compactMap { setting in
            layers.dropFirst().last { $0.arguments[setting.name] != nil }.map {
                "\n'\(setting.name)' is set in \($0.origin)."
            }
        }
        return message + notes.joined()
    }

    /// A setting's value from the layer with the highest precedence; nil if no layer has it.
    func text(of name: String) -> String? {
        layer(of: name)?.arguments[name]?.first.map { String($0.dropFirst("--\(name)=".count)) }
    }

    /// The folder of the server's store.
    var data: String { text(of: "data") ?? "" }

    private func isGiven(_ name: String) -> Bool {
        commandLine.contains { $0 == "--\(name)" || $0.hasPrefix("--\(name)=") || $0 == "--no-\(name)" }
    }

    // MARK: The environment

    private static func environment(_ environment: [String: String], _ settings: [ServeSetting]) throws -> Layer {
        var layer = Layer(origin: "the environment")
        for setting in settings {
            guard let text = environment[setting.variable], !text.isEmpty else { continue }
            switch setting.value {
            case .texts:
                layer.arguments[setting.name] = text.split(separator: ",").map {
                    "--\(setting.name)=\(Settings.expanded(String($0)))"
                }
            case .flag:
                guard let flag = ["1": true, "true": true, "0": false, "false": false][text] else {
                    throw Failure(.usage, "$\(setting.variable): expected true or false, found '\(text)'")
                }
                layer.arguments[setting.name] = ["--\(flag ? "" : "no-")\(setting.name)"]
            default: layer.arguments[setting.name] = ["--\(setting.name)=\(Settings.expanded(text))"]
            }
        }
        return layer
    }

    // MARK: The file

    /// How long to wait for the writer of a pipe, in milliseconds.
    private static let pipeTimeout: Int32 = 5_000

    private static func file(at path: String, isNamed: Bool, _ settings: [ServeSetting]) throws -> Layer {
        var layer = Layer(origin: path)
        let table: TOML.Table?
        do {
            table = try Settings.table(at: path, pipeTimeout: isNamed ? pipeTimeout : 0)
        } catch let error as FileError {
            throw Failure(.usage, "the configuration file: \(error)")
        }
        guard let table else {
            if isNamed { throw Failure(.notFound, "the configuration file \(path) cannot be read: no such file") }
            return layer
        }
        for (key, value) in table {
            guard let setting = settings.first(where: { $0.name == key }) else {
                throw Failure(
                    .usage,
                    "\(path): unknown setting '\(key)'."
                        + Spelling.question(key, among: settings.map(\.name).sorted())
                        + " 'hand serve --print-config' lists all.")
            }
            guard let arguments = Self.arguments(setting, value) else {
                throw Failure(
                    .usage, "\(path): \(key): expected \(setting.value.kind), found \(value.kind)")
            }
            layer.arguments[key] = arguments
        }
        return layer
    }

    private static func arguments(_ setting: ServeSetting, _ value: TOML) -> [String]? {
        func option(_ text: some CustomStringConvertible) -> [String] { ["--\(setting.name)=\(text)"] }
        switch (setting.value, value) {
        case (.text, .text(let text)), (.texts, .text(let text)): return option(Settings.expanded(text))
        case (.texts, .list): return value.texts?.map(Settings.expanded).flatMap(option)
        case (.number, .number(let number)), (.decimal, .number(let number)): return option(number)
        case (.decimal, .decimal(let number)): return option(number)
        case (.flag, .flag(let flag)): return ["--\(flag ? "" : "no-")\(setting.name)"]
        default: return nil
        }
    }
}

extension ServeSetting.Value {
    /// The kind of value that a configuration file must have, for messages.
    fileprivate var kind: String {
        switch self {
        case .text: "a string in quotes"
        case .texts: "a list of strings, such as [\"127.0.0.1:7777\"]"
        case .number: "a whole number"
        case .decimal: "a number"
        case .flag: "true or false"
        }
    }
}
