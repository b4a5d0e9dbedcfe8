import Foundation

/// One row of the table: a measurement and its goal.
struct Row: Sendable {
    let name: String
    let goal: Goal
    let measure: @Sendable (Bench) throws -> Outcome

    /// The results: ours, and those of the comparison if there is one, in the same unit.
    struct Outcome {
        var base: Double?
        var ours: Double
        /// The median of the ratios of pairs, if that is more exact than the ratio of medians.
        var ratio: Double?
        /// A remark for the row.
        var remark = ""
    }

    enum Goal: Sendable {
        case ratioAtLeast(Double)
        case ratioAtMost(Double)
        case below(Double)
        case atLeast(Double)
        /// The difference to the comparison is at most this.
        case addsAtMost(Double)

        func isMet(by outcome: Outcome) -> Bool {
            let ratio = outcome.ratio ?? outcome.base.map { outcome.ours / $0 } ?? .nan
            return switch self {
            case .ratioAtLeast(let least): ratio >= least
            case .ratioAtMost(let most): ratio <= most
            case .below(let bound): outcome.ours < bound
            case .atLeast(let bound): outcome.ours >= bound
            case .addsAtMost(let bound): outcome.ours - (outcome.base ?? 0) <= bound
            }
        }

        var text: String {
            switch self {
            case .ratioAtLeast(let least): "ratio ≥ \(least)"
            case .ratioAtMost(let most): "ratio ≤ \(most)"
            case .below(let bound): "< \(Row.number(bound))"
            case .atLeast(let bound): "≥ \(Row.number(bound))"
            case .addsAtMost(let bound): "≤ other + \(Row.number(bound))"
            }
        }
    }

    static let head = columns("", "other", "hand", "ratio", "goal", "")

    func line(_ outcome: Outcome) -> String {
        let ratio = outcome.ratio ?? outcome.base.map { outcome.ours / $0 }
        return Self.columns(
            name, outcome.base.map(Self.number) ?? "", Self.number(outcome.ours),
            ratio.map { String(format: "%.2f", $0) } ?? "", goal.text,
            (goal.isMet(by: outcome) ? "met" : "missed") + (outcome.remark.isEmpty ? "" : "  " + outcome.remark))
    }

    private static func columns(_ cells: String...) -> String {
        let widths = [58, 10, 10, 7, 14, 0]
        return zip(cells, widths).enumerated().map { index, cell in
            let (text, width) = cell
            let space = String(repeating: " ", count: max(0, width - text.count))
            return (1...3).contains(index) ? " " + space + text : " " + text + space
        }.joined()
    }

    static func number(_ value: Double) -> String {
        String(format: value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value)
    }
}

extension [Double] {
    /// The median, or 0 for no values.
    var median: Double {
        let sorted = sorted()
        guard let last = sorted.last else { return 0 }
        let middle = sorted.count / 2
        return sorted.count % 2 == 1
            ? sorted[middle] : (sorted[middle - 1] + (middle < sorted.count ? sorted[middle] : last)) / 2
    }
}
