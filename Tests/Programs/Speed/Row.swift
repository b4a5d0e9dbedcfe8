import Foundation

/// One line of the table: something that is measured, and the goal for it.
struct Row: Sendable {
    let name: String
    let goal: Goal
    let measure: @Sendable (Bench) throws -> Outcome

    /// What was found: ours, what it is compared with if it is compared, in the same unit.
    struct Outcome {
        var base: Double?
        var ours: Double
        /// The median of the ratios of pairs, if those are more exact than the ratio of medians.
        var ratio: Double?
        /// Something to be said beside it.
        var remark = ""
    }

    enum Goal: Sendable {
        case ratioAtLeast(Double)
        case ratioAtMost(Double)
        case below(Double)
        case atLeast(Double)
        /// More than the other by no more than that.
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
    /// 0 for none.
    var median: Double {
        let sorted = sorted()
        guard let last = sorted.last else { return 0 }
        let middle = sorted.count / 2
        return sorted.count % 2 == 1
            ? sorted[middle] : (sorted[middle - 1] + (middle < sorted.count ? sorted[middle] : last)) / 2
    }
}
