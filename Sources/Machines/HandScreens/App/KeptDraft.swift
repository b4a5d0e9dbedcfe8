import HandCore
import HandFormats

/// A text that was being typed when its field closed without the user's doing: the terminal was gone, or the item was
/// deleted on its own screen. The list's screen offers the text again.
package struct KeptDraft: Equatable, Sendable {
    /// The name under which the text is stored; nil if the text is not stored yet.
    package var name: String?
    package var list: String
    package let text: String
    /// The text that everybody had; empty for a new item.
    let base: String
    /// The item whose text was edited; nil for a new item.
    let item: Item?
    let field: Draft.Field
    let kind: Content.Kind
    /// The item behind which the text was; nil for the top.
    let behind: ItemID?

    /// The form in which the text is stored.
    package var json: JSONValue {
        JSONValue(fields: [
            "list": list, "text": text, "base": base, "kind": JSON.kind(kind), "address": field == .address,
            "item": item.map(JSON.item), "behind": behind.map(JSON.id),
        ])
    }
}

extension KeptDraft {
    package init(name: String, _ json: JSONValue) throws(FormatError) {
        let field = JSONField(json)
        self.init(
            name: name, list: try field["list"].string(), text: try field["text"].string(),
            base: try field["base"].string(), item: try field["item"].ifPresent(JSON.item),
            field: try field["address"].bool() ? .address : .text, kind: try JSON.kind(from: field["kind"]),
            behind: try field["behind"].ifPresent { (field) throws(FormatError) in try field.id() })
    }
}
