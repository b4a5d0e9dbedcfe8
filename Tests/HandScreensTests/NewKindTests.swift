import HandCore
import HandScreens
import Testing

// A kind of content that this program does not know, added from outside: the kind, its visitors, its cell. Nothing else
// in the client, the protocol or the store changes; they pass the bytes on.

/// The kind: a rating in stars.
private struct Rating: Equatable {
    static let kind = Content.Kind(rawValue: 900)

    var stars: UInt8
    var text: String

    var content: Content { .unknown(Self.kind, [stars] + Array(text.utf8)) }

    init(stars: UInt8, text: String) {
        self.stars = stars
        self.text = text
    }

    init?(bytes: [UInt8]) {
        guard let stars = bytes.first, stars <= 5, let text = String(validating: bytes.dropFirst(), as: UTF8.self)
        else {
            return nil
        }
        self.init(stars: stars, text: text)
    }
}

/// The visitors: code that knows the new kind handles it, or does not compile.
private protocol RatingVisitor: ContentVisitor {
    func visit(rating: Rating) -> Output
}

extension RatingVisitor {
    func visit(unknown kind: Content.Kind, bytes: [UInt8]) -> Output {
        guard kind == Rating.kind, let rating = Rating(bytes: bytes) else { return visit(other: kind, bytes: bytes) }
        return visit(rating: rating)
    }

    fileprivate func visit(other kind: Content.Kind, bytes: [UInt8]) -> Output { visit(note: "kind \(kind.rawValue)") }
}

private struct Words: RatingVisitor {
    func visit(card: Card) -> String { card.description }
    func visit(note text: String) -> String { text }
    func visit(task text: String, done: Bool) -> String { text }
    func visit(link text: String, url: String) -> String { text }
    func visit(heading text: String) -> String { text }
    func visit(rating: Rating) -> String { "\(rating.text): \(rating.stars) of 5" }
}

/// The cell.
private struct RatingCell: TableCell {
    let rating: Rating

    func lines(width: Int, _ state: RowState) -> [Line] {
        let stars =
            String(repeating: "★", count: Int(rating.stars)) + String(repeating: "☆", count: 5 - Int(rating.stars))
        return [Line(stars + " ", Style(.yellow)) + Line(rating.text)]
    }
}

private struct RatingCells: ContentCells {
    func cell(for content: Content) -> any TableCell {
        if case .unknown(Rating.kind, let bytes) = content, let rating = Rating(bytes: bytes) {
            return RatingCell(rating: rating)
        }
        return StandardCells().cell(for: content)
    }
}

@Suite struct NewKindTests {
    private static let soup = Item(id: ItemID(rawValue: 1), content: Rating(stars: 4, text: "the soup").content)
    private static let bread = Item(id: ItemID(rawValue: 2), content: .task("bread", done: false))

    @Test func aNewKindNeedsOnlyItsCell() {
        let stage = Stage(["things": Hand([Self.soup, Self.bread])], cells: RatingCells())
        #expect(stage.lines[1] == "▸ 1 ★★★★☆ the soup")
        #expect(stage.lines[2] == "  2 [ ] bread")
    }

    @Test func anUnknownKindIsShownAsSuch() {
        let stage = Stage(["things": Hand([Self.soup, Self.bread])])
        #expect(stage.lines[1].contains("an item of kind 900, 9 bytes"))
    }

    @Test func itIsMovedCutAndPastedLikeAnyOther() {
        var stage = Stage(["things": Hand([Self.soup, Self.bread])], cells: RatingCells())
        stage.press("J x P y p")
        #expect(stage.hand().map { $0.content.accept(Words()) } == ["the soup: 4 of 5", "the soup: 4 of 5", "bread"])
    }
}
