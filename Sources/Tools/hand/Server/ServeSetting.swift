import ArgumentParser
import HandFormats

/// An option of 'hand serve', which has the same name everywhere: `--max-items` on the command line, `HAND_MAX_ITEMS`
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
        // These options are about the settings themselves.
        settings(of: serve).filter { !["config", "print-config", "example-config"].contains($0.name) }
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

    /// The value as it is written in a configuration file; nil if there is none.
    var literal: String? {
        switch value {
        case .text(let text): text.map(TOMLText.quoted)
        case .texts(let texts): TOMLText.list(texts)
        case .number(let number): number.map { "\($0)" }
        case .decimal(let number): number.map { "\($0)" }
        case .flag(let flag): "\(flag)"
        }
    }

    /// The setting's line in a configuration file; commented out if it has no value.
    func line(from origin: String) -> String {
        literal.map { "\(name) = \($0)  # \(Printable.clean(origin))" } ?? "# \(name) is not set"
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
