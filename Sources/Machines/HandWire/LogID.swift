/// A list's log id: the lower 32 bits identify the list, and the whole id identifies one of the list's histories.
///
/// A list that is restored from a backup continues with a new history, so that nobody confuses a revision of one
/// history with the same revision of the other. The restored list stays the same list: clients submit unsent edits to
/// the restored list, and not to a list that was created later under its name.
package enum LogID {
    package static func new(using random: inout some RandomNumberGenerator) -> UInt64 {
        renewed(UInt64.random(in: 1...UInt64(UInt32.max), using: &random), using: &random)
    }

    /// Returns the log id of a new history of the same list.
    package static func renewed(_ logID: UInt64, using random: inout some RandomNumberGenerator) -> UInt64 {
        var history = UInt64.random(in: 1...UInt64(UInt32.max), using: &random) << 32
        if history == logID & ~UInt64(UInt32.max) { history ^= 1 << 32 }
        return history | UInt64(list(logID))
    }

    /// Returns the part that identifies the list.
    package static func list(_ logID: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: logID) }

    /// Whether a log id names a history, too.
    package static func hasHistory(_ logID: UInt64) -> Bool { logID >> 32 != 0 }

    package static func isSameList(_ one: UInt64, _ other: UInt64) -> Bool { list(one) == list(other) }
}
