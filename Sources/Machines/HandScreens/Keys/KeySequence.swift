/// The keys of an unfinished sequence, and the number typed before it.
struct KeySequence: Sendable {
    private var pressed: [Key] = []
    private var count: Int?

    private static let largestCount = 1_000_000_000

    /// Takes the next key. Returns the action that it completes, and the number typed before, if there was one.
    mutating func take(_ key: Key, _ keys: KeyMap, among actions: [Action]) -> (action: Action, count: Int?)? {
        if pressed.isEmpty, takeDigit(key) { return nil }
        pressed.append(key)
        switch keys.meaning(of: pressed, among: actions) {
        case .unfinished: return nil
        case .action(let action):
            defer { forget() }
            return (action, count)
        case .nothing:
            let isSequence = pressed.count > 1
            pressed = []
            // The key may begin another one.
            if isSequence { return take(key, keys, among: actions) }
            // A number applies to the next key only.
            count = nil
            return nil
        }
    }

    mutating func forget() { (pressed, count) = ([], nil) }

    /// Takes a digit of the number before a key. The number says how often the key acts, or where it leads.
    private mutating func takeDigit(_ key: Key) -> Bool {
        guard key.modifiers.isEmpty, case .character(let character) = key.code, let digit = character.wholeNumberValue,
            character.isASCII, digit > 0 || count != nil
        else { return false }
        count = min(Self.largestCount, (count ?? 0) * 10 + digit)
        return true
    }
}
