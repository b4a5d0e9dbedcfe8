import HandCore
import HandFormats

/// What may follow a text that is being typed: the rest of a name, of a day, or of an item that the list has or had.
struct Completion: Sendable {
    let list: ListData
    let app: AppState

    /// The most items that are looked at for one key.
    private static let maxItems = 10_000
    /// The fewest characters of an item that are completed.
    private static let minimum = 2

    /// Returns the rest of what is being typed at the end of a text; nil if nothing is known that begins so.
    ///
    /// - Parameter isNew: whether the text is that of a new item.
    func rest(of editor: LineEditor, isNew: Bool) -> String? {
        let characters = editor.characters
        guard let last = characters.last, !last.isNewline else { return nil }
        let word = Substring(characters[((characters.lastIndex(where: \.isWhitespace) ?? -1) + 1)...])
        if word.hasPrefix("due:") {
            return (0...31).lazy.compactMap { Self.rest(of: word, in: "due:" + app.day(in: $0)) }.first
        }
        if word.first == "@" {
            let names = Set(list.names.values).union([app.me]).map { TaskWords.word(for: $0) }.sorted()
            return names.lazy.compactMap { Self.rest(of: word, in: $0) }.first ?? restOfNamed(word)
        }
        guard isNew, characters.count >= Self.minimum else { return nil }
        let text = editor.text
        let present = list.hand.prefix(Self.maxItems).lazy.compactMap { item in
            item.content.text.contains(where: \.isNewline) ? nil : Self.rest(of: text[...], in: item.content.text)
        }.first
        return present ?? list.earlierTexts?.lazy.compactMap { Self.rest(of: text[...], in: $0) }.first
    }

    /// The rest of a name that the list's texts have: people need not be here to be named.
    private func restOfNamed(_ word: Substring) -> String? {
        list.hand.prefix(Self.maxItems).lazy.compactMap { item in
            var rest: String?
            TaskWords.forEach(in: item.content.text) { found, _ in
                if case .person(let name) = found { rest = Self.rest(of: word, in: "@" + name) }
                return rest == nil
            }
            return rest
        }.first
    }

    /// The ticked task that has a text; nil if there is none.
    func tickedTask(_ text: String) -> ItemID? {
        let wanted = text.lowercased()
        return list.hand.prefix(Self.maxItems).first { item in
            item.content.isTicked && item.content.text.utf8.count == text.utf8.count
                && item.content.text.lowercased() == wanted
        }?.id
    }

    /// The rest of a longer text that begins with `start`, whatever the case of its letters.
    private static func rest(of start: Substring, in text: String) -> String? {
        guard text.utf8.count > start.utf8.count, text.count > start.count,
            text.prefix(start.count).lowercased() == start.lowercased()
        else { return nil }
        return String(text.dropFirst(start.count))
    }
}
