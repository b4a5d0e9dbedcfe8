import HandCore
import HandFormats
import HandScreens

enum TextTarget {
    /// The first byte chooses the form.
    static func run(_ bytes: [UInt8]) throws {
        var input = Input(bytes)
        let format = ListFormat.allCases[input.below(ListFormat.allCases.count)]
        let rest = input.rest()
        try lists(rest, format)
        try typed(String(decoding: rest, as: UTF8.self))
    }

    /// Whatever was read can be written and read back.
    private static func lists(_ bytes: [UInt8], _ format: ListFormat) throws {
        var random = SplitMix64(seed: 1)
        _ = FileKind(of: bytes, otherThan: format)
        guard let items = try? format.read(bytes, using: &random) else { return }
        let format = ListFormat.written.contains(format) ? format : .csv
        var text = ""
        format.export(items) { text += $0 }
        let again = try format.read(text.utf8, using: &random)
        try check(
            again.map(\.content) == items.map(\.content) && again.map(\.level) == items.map(\.level),
            "\(format): \(items.map(\.content)) is written as \(text) and read as \(again.map(\.content))")
        if format == .jsonl { try check(again == items, "ids are not kept") }
        if format == .jsonl {
            try check(text.utf8.filter { $0 == UInt8(ascii: "\n") }.count == items.count, "not one line an item")
        }
    }

    private static func typed(_ text: String) throws {
        let clean = Printable.clean(text)
        try check(Printable.clean(clean) == clean, "cleaning does not end")
        _ = ListFormat(fileName: text)
        if let key = try? Key(text) {
            try check((try? Key(key.description)) == key, "'\(text)' is the key \(key), which is another")
        }
        if let reference = try? ItemReference(text) {
            _ = try? reference.position(in: Hand([Item(id: ItemID(rawValue: 2), content: .note(text))]))
        }
    }
}
