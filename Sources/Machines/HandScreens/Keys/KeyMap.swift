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
        var owners: [(keys: [Key], action: Action)] = []
        for action in kind.actions {
            for sequence in sequences[action] ?? [] {
                for other in owners where other.action != action {
                    let isSame = other.keys == sequence
                    guard isSame || other.keys.starts(with: sequence) || sequence.starts(with: other.keys) else {
                        continue
                    }
                    func text(_ keys: [Key]) -> String { keys.map(\.description).joined(separator: " ") }
                    let (begun, whole) =
                        sequence.count < other.keys.count
                        ? ((sequence, action), (other.keys, other.action))
                        : ((other.keys, other.action), (sequence, action))
                    let what =
                        isSame
                        ? "would be both \(begun.1.rawValue) and \(whole.1.rawValue)"
                        : "is \(begun.1.rawValue), so '\(text(whole.0))' cannot be \(whole.1.rawValue)"
                    throw Problem(
                        description:
                            "keys: '\(text(begun.0))' \(what) on the screen '\(kind.rawValue)'; "
                            + "give one of them another key")
                }
                owners.append((sequence, action))
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
