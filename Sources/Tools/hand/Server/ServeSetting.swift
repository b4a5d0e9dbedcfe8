import ArgumentParser
import TOMLKit

/// An option of 'hand serve', which can be set everywhere under the same name: `--max-items` on the command line, `HAND_MAX_ITEMS`
/// in the environment, `max-items` in the configuration file.
struct ServeSetting {
    let name: String
    let value: Value

    enum Value: Sendable {
        case text(String?)
        case texts([String])
        case number(Int?)
        case decimal(Double?)
        case flag(Bool)
    }

    var variable: String { "HAND_" + name.uppercased().replacing("-", with: "_") }

    /// All settings of a command, with their values.
    static func all(of serve: Serve) -> [ServeSetting] {
        // These two are about the settings themselves.
        settings(of: serve).filter { !["config", "print-config"].contains($0.name) }
    }

    private static func settings(of options: Any) -> [ServeSetting] {
        Mirror(reflecting: options).children.flatMap { child -> [ServeSetting] in
            switch child.value {
            case let group as any Group: settings(of: group.options)
            case let option as any Settable: [Self(name: name(of: child.label ?? ""), value: option.setting)]
            default: []
            }
        }
    }

    /// The option's name for a property, as the parser derives it: `max-items` for `maxItems`.
    static func name(of property: String) -> String {
        property.drop { $0 == "_" }.map { $0.isUppercase ? "-" + $0.lowercased() : String($0) }.joined()
    }

    /// The setting's line in a configuration file; commented out if it has no value.
    func line(from origin: String) -> String {
        let line: String
        switch value {
        case .text(let text?): line = TOMLTable([name: text]).convert()
        case .texts(let texts): line = TOMLTable([name: TOMLArray(texts)]).convert()
        case .number(let number?): line = "\(name) = \(number)"
        case .decimal(let number?): line = "\(name) = \(number)"
        case .flag(let flag): line = "\(name) = \(flag)"
        case .text(nil), .number(nil), .decimal(nil): return "# \(name) is not set"
        }
        return "\(line)  # \(origin)"
    }
}

// MARK: - Reading the options of a command

private protocol Group {
    var options: Any { get }
}

extension OptionGroup: Group {
    fileprivate var options: Any { wrappedValue }
}

private protocol Settable {
    var setting: ServeSetting.Value { get }
}

extension Flag: Settable {
    fileprivate var setting: ServeSetting.Value { .flag(wrappedValue as? Bool ?? false) }
}

extension Option: Settable {
    fileprivate var setting: ServeSetting.Value {
        switch Value.self {
        case is Int?.Type: .number(wrappedValue as? Int)
        case is Double.Type, is Double?.Type: .decimal(wrappedValue as? Double)
        case is String?.Type: .text(wrappedValue as? String)
        case is [String].Type: .texts(wrappedValue as? [String] ?? [])
        default: (wrappedValue as? Bound)?.value ?? .text("\(wrappedValue)")
        }
    }
}
