import HandWire

/// What servers that share a store tell each other. A hint may get lost, come twice or late: nothing depends on one.
package enum StoreHint: Hashable, Sendable {
    /// A list has come to a revision.
    case commits(list: UInt64, revision: Int)
    /// Who is on a list has changed.
    case presence(list: UInt64)
    /// A client has come to a server.
    case client(Key)

    /// Half as many bits as a client's id, which is its secret and cannot be found from them.
    package struct Key: Hashable, Sendable {
        package let bits: UInt64

        package init(bits: UInt64) { self.bits = bits }
        // An odd factor: ids that differ in one half only have different keys, even if they are small numbers.
        init(_ client: ClientID) { bits = client.high &* 0x9E37_79B9_7F4A_7C15 &+ client.low }
    }
}
