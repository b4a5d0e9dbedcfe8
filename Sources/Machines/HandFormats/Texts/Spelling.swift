/// Guesses the intended word behind a misspelled one.
package enum Spelling {
    /// Returns the candidate nearest to the word, if they differ by at most one edit per three characters.
    package static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
        let maxDistance = max(1, word.count / 3)
        var best: (candidate: String, distance: Int)?
        for candidate in candidates {
            let distance = distance(word.lowercased(), candidate.lowercased())
            if distance <= maxDistance, distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.candidate
    }

    /// Returns ` Did you mean 'ls'?`, or an empty text.
    package static func question(_ word: String, among candidates: some Sequence<String>) -> String {
        nearest(to: word, among: candidates).map { " Did you mean '\($0)'?" } ?? ""
    }

    /// Returns how many characters must be inserted, deleted, replaced or swapped with a neighbour to turn one word
    /// into the other.
    package static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left), Array(right))
        // Three rows of the table: the distances of the first `row` characters of `left` from all prefixes of `right`.
        var (older, old) = ([Int](), Array(0...right.count))
        for row in 1..<left.count + 1 {
            var new = [row]
            for column in 1..<right.count + 1 {
                let replaced = old[column - 1] + (left[row - 1] == right[column - 1] ? 0 : 1)
                var least = min(replaced, old[column] + 1, new[column - 1] + 1)
                if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
                    least = min(least, older[column - 2] + 1)
                }
                new.append(least)
            }
            (older, old) = (old, new)
        }
        return old[right.count]
    }
}
