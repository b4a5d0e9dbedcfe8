/// What the server does for a message beyond taking and answering it, in components of deltas that could be looked at in the same time:
/// about 100 nanoseconds each.
enum Price {
    /// Looking who somebody is, and all that a connection takes.
    static let hello = 2_000
}
