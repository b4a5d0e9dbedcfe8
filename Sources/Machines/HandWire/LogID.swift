/// What a list's log id says: its lower 32 bits, which list it is; all of it, which of the list's histories.
///
/// A list that is put back from a backup goes on with another history, so that nobody takes a revision of one for the same
/// revision of the other. It stays the same list: who has edits for it brings them there, and not to one that was made later
/// under its name.
package enum LogID {
    /// Of a new list.
    package static func new(using random: inout some RandomNumberGenerator) -> UInt64 {
        renewed(UInt64.random(in: 1...UInt64(UInt32.max), using: &random), using: &random)
    }

    /// Of another history of the same list.
    package static func renewed(_ logID: UInt64, using random: inout some RandomNumberGenerator) -> UInt64 {
        var history = UInt64.random(in: 1...UInt64(UInt32.max), using: &random) << 32
        if history == logID & ~UInt64(UInt32.max) { history ^= 1 << 32 }
        return history | UInt64(list(logID))
    }

    /// Which list it is.
    package static func list(_ logID: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: logID) }

    package static func isSameList(_ one: UInt64, _ other: UInt64) -> Bool { list(one) == list(other) }
}
