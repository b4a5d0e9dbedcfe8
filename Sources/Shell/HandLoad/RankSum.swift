import Glibc

/// Whether two samples come from one distribution, by the ranks of their values, whatever that distribution is:
/// Mann and Whitney, "On a Test of Whether one of Two Random Variables is Stochastically Larger than the Other",
/// The Annals of Mathematical Statistics 18 (1947), with its normal approximation, which is good from eight values on.
///
/// The test is for independent values, but one second of a test resembles the next. So the variance is increased by
/// (1 + r) / (1 - r), with the correlation r of neighbouring values: so many fewer values are independent (Bayley and
/// Hammersley, "The 'Effective' Number of Independent Observations in an Autocorrelated Time Series", 1946).
package enum RankSum {
    /// The fewest values of each sample.
    static let minCount = 8

    /// Returns how often chance alone makes two samples of one distribution differ at least that much (two-sided); nil
    /// for samples that are too small.
    package static func chance(_ some: [Double], _ others: [Double]) -> Double? {
        guard some.count >= minCount, others.count >= minCount else { return nil }
        let (count, rest) = (Double(some.count), Double(others.count))
        let all = count + rest
        var (wins, ties) = (0.0, 0.0)
        for value in some { for other in others { wins += value > other ? 1 : value == other ? 0.5 : 0 } }
        for group in Dictionary(grouping: some + others, by: \.self).values {
            let size = Double(group.count)
            ties += size * size * size - size
        }
        let variance = count * rest / 12 * (all + 1 - ties / (all * (all - 1)))
        let correlation = (neighbours(some) + neighbours(others)) / 2
        let deviation = (variance * (1 + correlation) / (1 - correlation)).squareRoot()
        guard deviation > 0 else { return 1 }
        // Half a step corrects for the steps of the ranks.
        let distance = max(0, abs(wins - count * rest / 2) - 0.5) / deviation
        return erfc(distance / 2.0.squareRoot())
    }

    /// Returns the correlation of neighbouring values, if it exceeds the usual one of as many independent values.
    private static func neighbours(_ values: [Double]) -> Double {
        let mean = values.reduce(0, +) / Double(values.count)
        let square = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        guard square > 0 else { return 0 }
        let product = zip(values, values.dropFirst()).reduce(0) { $0 + ($1.0 - mean) * ($1.1 - mean) }
        let correlation = product / square
        return correlation < 1 / Double(values.count).squareRoot() ? 0 : min(0.9, correlation)
    }
}
