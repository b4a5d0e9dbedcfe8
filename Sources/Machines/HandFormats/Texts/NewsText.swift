/// What is new in a list, in a few words.
package enum NewsText {
    /// ` by Bob`, ` by Bob and Eve` or ` by Bob and 2 others`; empty for nobody.
    private static func people(_ names: [String]) -> String {
        switch names.count {
        case 0: ""
        case 1: " by \(names[0])"
        case 2: " by \(names[0]) and \(names[1])"
        default: " by \(names[0]) and \(names.count - 1) others"
        }
    }

    /// `4 new, by Bob`, or `changed by Bob` if no item is new or changed; nil if nobody changed anything.
    ///
    /// - Parameter isCut: whether there may be more: `978+ new, by Bob`.
    package static func headline(_ count: Int, isCut: Bool = false, by names: [String]) -> String? {
        let by = people(names)
        if count == 0 { return by.isEmpty ? nil : "changed\(by)" }
        return "\(count)\(isCut ? "+" : "") new\(by.isEmpty ? "" : "," + by)"
    }
}
