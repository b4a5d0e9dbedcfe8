import HandCore

/// Words that identify their author: no two people insert the same word.
enum UniqueWords {
    private static let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")
    private static let length = 8

    /// Returns a new word. The first letter marks the word's start, as text beside the word may be joined to it.
    static func fresh(_ random: inout SplitMix64) -> String {
        "W" + String((1..<length).map { _ in letters[random.next(below: letters.count)] })
    }

    static func all(in text: String) -> Set<Substring> {
        let bytes = text.utf8
        return bytes.indices.reduce(into: []) { words, start in
            guard bytes[start] == UInt8(ascii: "W"),
                let end = bytes.index(start, offsetBy: length, limitedBy: bytes.endIndex)
            else { return }
            let word = text[start..<end]
            if word.dropFirst().allSatisfy(letters.contains) { words.insert(word) }
        }
    }

    /// What an edit inserts: items, and words into any item.
    struct Put {
        private(set) var items: Set<ItemID> = []
        private(set) var words: Set<Substring> = []

        init() {}

        init(_ item: Item) { insert(item) }

        init(wordsOf text: String) { words = all(in: text) }

        mutating func insert(_ item: Item) {
            items.insert(item.id)
            words.formUnion(all(in: item.content.text))
        }

        mutating func insert(_ change: Change) { words.formUnion(change.insertedWords) }

        mutating func formUnion(_ other: Put) {
            items.formUnion(other.items)
            words.formUnion(other.words)
        }

        func contains(_ thing: Thing) -> Bool {
            switch thing {
            case .item(let id): items.contains(id)
            case .word(let word, _): words.contains(word)
            }
        }
    }
}

extension Delta {
    var put: UniqueWords.Put {
        var put = UniqueWords.Put()
        for item in insertedItems { put.insert(item) }
        for change in changes { put.insert(change) }
        return put
    }
}

extension Change {
    var insertedWords: Set<Substring> { words(\.inserted).subtracting(words(\.removed)) }
    var removedWords: Set<Substring> { words(\.removed).subtracting(words(\.inserted)) }

    private func words(_ part: KeyPath<Splice, String>) -> Set<Substring> {
        text.splices.reduce(into: []) { $0.formUnion(UniqueWords.all(in: $1[keyPath: part])) }
    }
}

extension Item {
    var things: Set<Thing> {
        Set(UniqueWords.all(in: content.text).map { .word($0, in: id) }).union([.item(id)])
    }
}
