/// Which keys do what. An action can have several keys. A key can have several actions, each on different screens.
package struct KeyMap: Equatable, Sendable {
    private var sequences: [Action: [[Key]]]

    /// What a sequence of keys means on a screen.
    package enum Meaning: Equatable, Sendable {
        case action(Action)
        /// More keys must follow.
        case unfinished
        case nothing
    }

    package static let standard = KeyMap()

    private init() {
        sequences = Dictionary(
            uniqueKeysWithValues: Action.allCases.map { action in
                (action, action.manual.keys.compactMap { try? Key.sequence($0) })
            })
    }

    package struct Problem: Error, Equatable, CustomStringConvertible, Sendable {
        package let description: String
    }

    /// Replaces the standard keys of the actions that a configuration names.
    ///
    /// - Throws: `Problem` for an unknown action, a text that is not a key, or a key with two meanings on one screen.
    package init(_ settings: [String: [String]]) throws(Problem) {
        self = .standard
        for (name, keys) in settings.sorted(by: { $0.key < $1.key }) {
            guard let action = Action(rawValue: name) else {
                let known = Action.allCases.map(\.rawValue).joined(separator: ", ")
                throw Problem(description: "keys: '\(name)' is not an action; expected one of \(known)")
            }
            var chosen: [[Key]] = []
            for key in keys {
                do { chosen.append(try Key.sequence(key)) } catch {
                    throw Problem(description: "keys: \(name): \(error)")
                }
                for part in chosen.last ?? [] {
                    guard let other = part.arrivesAs else { continue }
                    throw Problem(
                        description: "keys: \(name): terminals send '\(part)' as '\(other)'; write '\(other)' instead")
                }
            }
            sequences[action] = chosen
        }
        for kind in ScreenKind.allCases { try checkConflicts(on: kind) }
    }

    private func checkConflicts(on kind: ScreenKind) throws(Problem) {
        var owners: [[Key]: Action] = [:]
        for action in kind.actions {
            for sequence in sequences[action] ?? [] {
                if let other = owners[sequence], other != action {
                    let key = sequence.map(\.description).joined(separator: " ")
                    throw Problem(
                        description:
                            "keys: '\(key)' would be both \(other.rawValue) and \(action.rawValue) on the screen "
                            + "'\(kind.rawValue)'; give one of them another key")
                }
                owners[sequence] = action
            }
        }
    }

    package func meaning(of pressed: [Key], among actions: [Action]) -> Meaning {
        var isBegun = false
        for action in actions {
            for sequence in sequences[action] ?? [] {
                if sequence == pressed { return .action(action) }
                if sequence.starts(with: pressed) { isBegun = true }
            }
        }
        return isBegun ? .unfinished : .nothing
    }

    /// The keys of an action, as they are written in the configuration file.
    package func keys(for action: Action) -> [String] {
        (sequences[action] ?? []).map { $0.map(\.description).joined(separator: " ") }
    }

    /// The first key or sequence of an action; nil if it has none.
    package func first(for action: Action) -> [Key]? { sequences[action]?.first }

    /// The first key of an action, in its shortest form.
    package func symbol(for action: Action) -> String { (first(for: action) ?? []).map(\.symbol).joined() }
}
