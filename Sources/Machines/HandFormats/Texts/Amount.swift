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
        var (scaled, unit) = (Double(number), 0)
        let units = ["B", "kB", "MB", "GB", "TB"]
        while scaled >= 999.5, unit + 1 < units.count {
            scaled /= 1_000
            unit += 1
        }
        let tenths = Int((scaled * 10).rounded())
        let text = unit == 0 || scaled >= 99.95 ? "\(Int(scaled.rounded()))" : "\(tenths / 10).\(tenths % 10)"
        return "\(text) \(units[unit])"
    }
}
