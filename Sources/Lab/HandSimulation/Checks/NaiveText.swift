import HandCore

/// Two changes of a text, merged byte by byte, literally by the rules.
package struct NaiveText {
    package private(set) var text = ""
    /// For each place where a change was lost: the old text, the earlier change's text, and the text that is there now.
    package private(set) var losses: [[String]] = []

    package init(_ text: String, _ earlier: TextChange, _ later: TextChange) {
        let bytes = Array(text.utf8)
        let splices =
            earlier.splices.map { (isLater: false, splice: $0) } + later.splices.map { (isLater: true, splice: $0) }
        func range(_ index: Int) -> Range<Int> {
            let splice = splices[index].splice
            return splice.at..<splice.at + splice.removed.utf8.count
        }
        func overlap(_ one: Int, _ other: Int) -> Bool {
            let (one, other) = (range(one), range(other))
            if one.isEmpty { return other.lowerBound < one.lowerBound && one.lowerBound < other.upperBound }
            if other.isEmpty { return one.lowerBound < other.lowerBound && other.lowerBound < one.upperBound }
            return one.overlaps(other)
        }
        // Connected splices have the same mark.
        var marks = Array(splices.indices)
        for _ in splices {
            for one in splices.indices {
                for other in splices.indices where overlap(one, other) {
                    marks[one] = min(marks[one], marks[other])
                }
            }
        }
        func made(_ members: [Int], _ union: Range<Int>, byLater: Bool?) -> [UInt8] {
            var result: [UInt8] = []
            for place in union.lowerBound...union.upperBound {
                for index in members where splices[index].isLater == byLater && range(index).lowerBound == place {
                    result += splices[index].splice.inserted.utf8
                }
                let isGone = members.contains { splices[$0].isLater == byLater && range($0).contains(place) }
                if place < union.upperBound, !isGone { result.append(bytes[place]) }
            }
            return result
        }
        var result: [UInt8] = []
        var place = 0
        while place <= bytes.count {
            let here = splices.indices.filter { range($0).lowerBound == place }
            // Insertions come first, the earlier change's before the later's, unless they are inside of a place that
            // was already merged.
            for index in here where range(index).isEmpty { result += splices[index].splice.inserted.utf8 }
            guard let first = here.first(where: { !range($0).isEmpty }) else {
                if place < bytes.count { result.append(bytes[place]) }
                place += 1
                continue
            }
            let members = splices.indices.filter { marks[$0] == marks[first] }
            let union = place..<(members.map { range($0).upperBound }.max() ?? place)
            let isLater = members.contains { splices[$0].isLater }
            result += made(members, union, byLater: isLater)
            if isLater, members.contains(where: { !splices[$0].isLater }) {
                let (lost, present) = (made(members, union, byLater: false), made(members, union, byLater: true))
                func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
                if lost != present {
                    losses.append([text(Array(bytes[union])), text(lost), text(present)])
                }
            }
            place = union.upperBound
        }
        self.text = String(decoding: result, as: UTF8.self)
    }
}
