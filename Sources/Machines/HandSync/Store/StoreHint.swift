import HandWire

/// A notification between servers that share a store. Hints may get lost, be duplicated or arrive late: nothing
/// depends on them.
package enum StoreHint: Hashable, Sendable {
    case commits(list: ListNumber, revision: Int)
    case presence(list: ListNumber)
    /// A client has connected to a server.
    case client(Key)

    /// Half as many bits as a client's id: the id is the client's secret and cannot be computed from the key.
    package struct Key: Hashable, Sendable {
        package let bits: UInt64

        package init(bits: UInt64) { self.bits = bits }
        // An odd factor: ids that differ in only one half have different keys, even if they are small numbers.
        init(_ client: ClientID) { bits = client.high &* 0x9E37_79B9_7F4A_7C15 &+ client.low }
    }
}
