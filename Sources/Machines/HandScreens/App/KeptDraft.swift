import HandCore
import HandFormats
import HandWire

/// A text that was being typed when its field closed without the user's doing: the terminal was gone, or the item was
/// deleted on its own screen. The list's screen offers the text again.
package struct KeptDraft: Equatable, Sendable {
    /// The name under which the text is stored; nil if the text is not stored yet.
    package var name: String?
    package var list: String
    /// The list's log id: another list may get the name. 0 if it was not known.
    let log: UInt64
    package let text: String
    /// The text that everybody had; empty for a new item.
    let base: String
    /// The item whose text was edited; nil for a new item.
    let item: Item?
    let field: Draft.Field
    let kind: Content.Kind
    /// The item behind which the text was; nil for the top.
    let behind: ItemID?

    /// Whether the text was typed in this list.
    func isOf(_ name: String, _ id: UInt64) -> Bool {
        log == 0 || id == 0 ? list == name : LogID.isSameList(log, id)
    }

    /// The form in which the text is stored.
    package var json: JSONValue {
        JSONValue(fields: [
            "list": list, "log": Hex.text(log), "text": text, "base": base, "kind": JSON.kind(kind),
            "address": field == .address,
            "item": item.map(JSON.item), "behind": behind.map(JSON.id),
        ])
    }
}

extension KeptDraft {
    package init(name: String, _ json: JSONValue) throws(FormatError) {
        let field = JSONField(json)
        self.init(
            name: name, list: try field["list"].string(), log: try field["log"].word(),
            text: try field["text"].string(),
            base: try field["base"].string(), item: try field["item"].ifPresent(JSON.item),
            field: try field["address"].bool() ? .address : .text, kind: try JSON.kind(from: field["kind"]),
            behind: try field["behind"].ifPresent { (field) throws(FormatError) in try field.id() })
    }
}
