import HandCore
import HandFormats

/// The items that contain a text; optionally only what names a person or is due, or without ticked ones. The search
/// runs in portions, so that typing never waits.
struct Filter: Sendable {
    let query: String
    let hidesTicked: Bool
    let scope: Scope
    private let search: TextSearch
    /// The places of the matches, in order.
    private(set) var matches: [Int32] = []
    /// All items before this place have been searched.
    private(set) var scanned = 0

    /// The number of items to search at once, which takes a millisecond or two.
    static let portion = 8_192

    /// Which tasks are shown.
    enum Scope: Equatable, Sendable {
        case everything
        /// What names a person.
        case person(String)
        /// What is due on a day or before, and not ticked.
        case due(by: String)

        fileprivate func contains(_ content: Content) -> Bool {
            switch self {
            case .everything: true
            case .person(let name): TaskWords.names(name, in: content.text)
            case .due(let day): !content.isTicked && TaskWords.due(content.text).map { $0 <= day } == true
            }
        }
    }

    init(_ query: String, hidesTicked: Bool = false, _ scope: Scope = .everything) {
        (self.query, self.hidesTicked, self.scope) = (query, hidesTicked, scope)
        search = TextSearch(query)
    }

    /// Whether folded items hide nothing: whoever looks for something wants to see all of it.
    var ignoresFolds: Bool { !query.isEmpty || scope != .everything }

    func isComplete(in list: Hand) -> Bool { scanned >= list.count }

    /// Searches the next items.
    mutating func scan(_ list: Hand) {
        let end = min(list.count, scanned + Self.portion)
        guard scanned < end else { return }
        var place = scanned
        for item in list.items(in: scanned..<end) {
            if isMatch(item.content) { matches.append(Int32(place)) }
            place += 1
        }
        scanned = end
    }

    /// Narrows the matches of another filter: every item that matches the longer query also matches the shorter one.
    init(_ query: String, narrowing other: Filter, _ list: Hand) {
        self.init(query, hidesTicked: other.hidesTicked, other.scope)
        matches = other.matches.filter { isMatch(list[Int($0)].content) }
        scanned = other.scanned
    }

    func isMatch(_ content: Content) -> Bool {
        !(hidesTicked && content.isTicked) && isWanted(content)
    }

    /// Whether an item matches if ticked items are not hidden.
    func isWanted(_ content: Content) -> Bool { scope.contains(content) && hasText(content) }

    func hasText(_ content: Content) -> Bool {
        search.isFound(in: content.text) || content.address.map(search.isFound) == true
    }

    // MARK: Rows

    /// The row of the first match at or after a gap of the list. O(log matches).
    func row(ofGap gap: Int) -> Int { matches.partitioningIndex { $0 >= gap } }

    /// The row of an item; nil if it is not a match.
    func row(ofIndex index: Int) -> Int? {
        let row = row(ofGap: index)
        return row < matches.count && Int(matches[row]) == index ? row : nil
    }

    /// Updates the matches after a change of the list; `edited` counts as a match. O(matches + size of the delta).
    mutating func follow(_ delta: Delta, to new: Hand, keeping edited: ItemID? = nil) {
        var (survivors, fresh): ([Int32], [Int]) = ([], [])
        survivors.reserveCapacity(matches.count)
        var next = 0
        for step in delta.placed {
            var isKept = false
            if case .keep = step.component { isKept = true }
            let shift = Int32(step.new.lowerBound - step.old.lowerBound)
            while next < matches.count, Int(matches[next]) < step.old.upperBound {
                if isKept { survivors.append(matches[next] + shift) }
                next += 1
            }
            if step.mark != nil { fresh += step.new }
        }
        survivors += matches[next...].map { $0 + Int32(delta.growth) }
        scanned = delta.map(gap: scanned, .before)
        fresh = fresh.filter { $0 < scanned && (new[$0].id == edited || isMatch(new[$0].content)) }
        // Both are in order, and the standard sort merges ordered runs in linear time.
        matches = fresh.isEmpty ? survivors : (survivors + fresh.map { Int32($0) }).sorted()
    }
}
