/// One entry of a list.
public struct Item: Equatable, Sendable, Identifiable {
    public let id: ItemID
    public var content: Content

    public init(id: ItemID, content: Content) {
        self.id = id
        self.content = content
    }
}
