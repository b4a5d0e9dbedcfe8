import HandCore

/// The orders that a list can be brought into.
package enum ItemOrder: String, CaseIterable, Sendable {
    case text, done, due, newest

    /// Returns the edit that brings siblings into this order, each with its sub-items.
    ///
    /// - Parameters:
    ///   - items: items with all their sub-items; nil for the whole list.
    ///   - arrivals: the revisions at which items came into the list, for `newest`. An item without a revision has come
    ///     later.
    package func sorting(
        _ hand: Hand, _ items: Range<Int>? = nil, isReversed: Bool = false, arrivals: [ItemID: Int] = [:]
    ) -> Delta {
        switch self {
        case .text: hand.sorting(items, isReversed: isReversed) { Self.key(of: $0.content) }
        case .done: hand.sorting(items, isReversed: isReversed) { $0.content.isTicked ? 1 : 0 }
        case .due:
            hand.sorting(items, isReversed: isReversed) {
                // What has no day comes after all days.
                TaskWords.due($0.content.text).map(String.init) ?? "~"
            }
        case .newest: hand.sorting(items, isReversed: isReversed) { -(arrivals[$0.id] ?? .max) }
        }
    }

    /// The words for what comes first.
    package var summary: String {
        switch self {
        case .text: "by text"
        case .done: "what is to do first"
        case .due: "what is due first"
        case .newest: "the newest first"
        }
    }

    // MARK: Texts

    /// A key whose order is that of texts for people: neither case nor accents matter, and numbers count as numbers.
    static func key(of content: Content) -> String {
        if case .card(let card) = content { return key("\(card.code)") }
        return key(content.text)
    }

    private static func key(_ text: String) -> String {
        var key: [UInt8] = []
        var digits: [UInt8] = []
        func finishNumber() {
            if digits.isEmpty { return }
            let number = digits.drop { $0 == UInt8(ascii: "0") }
            // A longer number is greater.
            key += [UInt8(ascii: "0"), UInt8(min(number.count, 0x7F))] + number
            digits.removeAll(keepingCapacity: true)
        }
        let letters = FoldedText.folded(text).unicodeScalars.filter { $0.properties.generalCategory != .nonspacingMark }
        for byte in String(letters).utf8 {
            if byte.isDigit {
                digits.append(byte)
            } else {
                finishNumber()
                key.append(byte)
            }
        }
        finishNumber()
        return String(decoding: key, as: UTF8.self)
    }
}

extension Content {
    package var isTicked: Bool {
        if case .task(_, done: true) = self { true } else { false }
    }
}
