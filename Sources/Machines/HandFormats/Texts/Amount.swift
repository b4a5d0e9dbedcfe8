/// Numbers with their nouns and units.
package enum Amount {
    /// Returns a text such as `1 item` or `2 items`.
    package static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    /// Returns a text such as `10` or `0.5`.
    package static func number(_ number: Double) -> String {
        Int(exactly: number).map(String.init) ?? "\(number)"
    }

    /// Returns a text such as `800 B`, `3.7 MB` or `188 kB`.
    package static func bytes(_ number: Int) -> String {
        scaled(Double(number), 1_000, [" B", " kB", " MB", " GB", " TB"])
    }

    /// Returns a number with about three digits, and its unit. Each unit is `step` times the one before it.
    package static func scaled(_ number: Double, _ step: Double, _ units: [String]) -> String {
        var (scaled, unit) = (number, 0)
        while scaled >= step - 0.5, unit + 1 < units.count {
            scaled /= step
            unit += 1
        }
        let text = unit == 0 || scaled >= 99.95 ? "\(Int(scaled.rounded()))" : decimal(scaled)
        return text + units[unit]
    }

    /// Returns a number with one decimal.
    package static func decimal(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
