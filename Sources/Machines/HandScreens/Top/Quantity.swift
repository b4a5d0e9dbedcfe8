import HandFormats

/// Quantities with about three digits and a unit.
enum Quantity {
    static func count(_ value: Int) -> String { count(Double(value)) }

    static func count(_ value: Double) -> String {
        value < 10 && value != value.rounded()
            ? Amount.decimal(value) : Amount.scaled(value, 1_000, ["", " k", " M", " G"])
    }

    static func bytes(_ value: Int) -> String { bytes(Double(value)) }

    static func bytes(_ value: Double) -> String {
        Amount.scaled(value, 1_024, [" B", " KiB", " MiB", " GiB", " TiB"])
    }

    static func percent(_ share: Double) -> String { "\(Int((share * 100).rounded())) %" }

    static func time(milliseconds: UInt64) -> String { time(seconds: Double(milliseconds) / 1_000) }

    static func time(seconds: Double) -> String {
        switch seconds {
        case ..<0.001: "\(Int((seconds * 1e6).rounded())) µs"
        case ..<1:
            (seconds * 1_000).rounded() == seconds * 1_000
                ? "\(Int(seconds * 1_000)) ms" : Amount.decimal(seconds * 1_000) + " ms"
        case ..<60: "\(Int(seconds)) s"
        case ..<3_600: "\(Int(seconds) / 60) min"
        case ..<86_400: "\(Int(seconds) / 3_600) h \(Int(seconds) / 60 % 60) min"
        default: "\(Int(seconds) / 86_400) d \(Int(seconds) / 3_600 % 24) h"
        }
    }
}
