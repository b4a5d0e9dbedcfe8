/// A change of a text that its author has seen: what is removed where, and what is inserted instead.
///
/// The splices are in order, and at least one byte is kept between two of them, so that equal changes of a text have
/// equal splices. All operations are linear in the bytes of the splices and independent of the length of the text,
/// except for `applied` and `init(from:to:)`, which read the text.
public struct TextChange: Hashable, Sendable {
    public private(set) var splices: [Splice] = []

    /// Creates a change that changes nothing.
    public init() {}

    /// Creates a change from ordered, disjoint splices. Adjacent splices are joined, and splices that change nothing
    /// are left out.
    ///
    /// - Throws: `TextChangeError.disorder`.
    public init(_ splices: some Sequence<Splice>) throws(TextChangeError) {
        var end = 0
        for splice in splices {
            guard splice.at >= end else { throw .disorder(at: splice.at, expected: end) }
            end = splice.range.upperBound
            append(splice)
        }
        settle()
    }

    /// Adopts splices in normal form without copying them; fails if they are not in normal form, or if there are none.
    package init?(inNormalForm splices: [Splice]) {
        var end = -1
        for splice in splices {
            if splice.at <= end || splice.isNothing { return nil }
            end = splice.range.upperBound
        }
        if splices.isEmpty { return nil }
        self.splices = splices
    }

    public var isIdentity: Bool { splices.isEmpty }

    /// The approximate size in bytes.
    var size: Int { splices.reduce(0) { $0 + 4 + $1.removed.utf8.count + $1.inserted.utf8.count } }

    /// The cost of applying and transforming this change, in steps of a delta, in addition to the step for its first
    /// splice.
    var cost: Int {
        splices.reduce(max(0, splices.count - 1)) { $0 + ($1.removed.utf8.count + $1.inserted.utf8.count) / 256 }
    }

    /// The number of bytes by which the text grows.
    public var growth: Int { splices.reduce(0) { $0 + $1.growth } }

    /// Adds a splice behind all others, or adjacent to the last one. Call `settle` afterwards.
    mutating func append(_ splice: Splice) {
        if splice.isNothing { return }
        guard let last = splices.last, last.range.upperBound == splice.at else { return splices.append(splice) }
        splices[splices.count - 1] = Splice(
            at: last.at, removed: last.removed + splice.removed, inserted: last.inserted + splice.inserted)
    }

    /// Removes splices that became empty when adjacent ones were joined.
    mutating func settle() {
        splices.removeAll(where: \.isNothing)
    }

    // MARK: Applying

    /// Returns the text after this change.
    ///
    /// - Throws: `TextChangeError.misfit` if the text that a splice removes is not there.
    public func applied(to text: String) throws(TextChangeError) -> String {
        if isIdentity { return text }
        var result: [UInt8] = []
        let bytes = Array(text.utf8)
        result.reserveCapacity(bytes.count + growth)
        var end = 0
        for splice in splices {
            guard splice.range.upperBound <= bytes.count,
                bytes[splice.range].elementsEqual(splice.removed.utf8),
                // An insertion must not split a character of several bytes.
                !Self.isContinuation(bytes, splice.at)
            else { throw .misfit(splice) }
            result += bytes[end..<splice.at]
            result += splice.inserted.utf8
            end = splice.range.upperBound
        }
        result += bytes[end...]
        return String(decoding: result, as: UTF8.self)
    }

    /// Whether the byte continues a scalar that began before it.
    private static func isContinuation(_ bytes: [UInt8], _ index: Int) -> Bool {
        index < bytes.count && bytes[index] & 0xC0 == 0x80
    }

    /// The change that restores the original text.
    ///
    /// Law: `change.inverted.applied(to: change.applied(to: text)) == text`.
    public var inverted: TextChange {
        var inverse = TextChange()
        var shift = 0
        for splice in splices {
            inverse.splices.append(Splice(at: splice.at + shift, removed: splice.inserted, inserted: splice.removed))
            shift += splice.growth
        }
        return inverse
    }

    /// Returns the new position of a place in the text before the change. A place inside removed text moves to the end
    /// of the text inserted instead. With `.after`, so does a place where text is inserted.
    public func mapped(_ position: Int, _ side: Side) -> Int {
        var shift = 0
        for splice in splices where splice.at <= position {
            let range = splice.range
            if position >= range.upperBound, position > splice.at || side == .after {
                shift += splice.growth
            } else if position > splice.at {
                return splice.at + shift + splice.inserted.utf8.count
            }
        }
        return position + shift
    }
}

/// Why something is not a change of a text.
public enum TextChangeError: Error, Hashable, Sendable {
    /// A splice begins before the end of the one in front of it.
    case disorder(at: Int, expected: Int)
    /// The text that this splice removes is not there.
    case misfit(Splice)
}

extension TextChangeError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .disorder(let at, let expected):
            "a splice begins at byte \(at), expected \(expected) or later: splices stand in order and do not overlap"
        case .misfit(let splice) where splice.removed.isEmpty:
            "the text has no place at byte \(splice.at), or it is within a character: the change was made on another text"
        case .misfit(let splice):
            "the text does not have '\(splice.removed)' at byte \(splice.at): the change was made on another text"
        }
    }
}
