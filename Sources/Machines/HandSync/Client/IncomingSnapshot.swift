import HandCore

extension ClientMachine {
    /// A list that is arriving in chunks.
    package struct IncomingSnapshot: Sendable {
        /// The items that have arrived.
        var hand: Hand
        let revision: Int
        let count: Int
        let digest: UInt64
        var logID: UInt64 = 0
        var lastSequence: SequenceNumber = 0
        var isLastRefused = false

        var isComplete: Bool { hand.count >= count }

        /// Returns the whole list, or nil if it is not what the server announced.
        func assembled() -> Hand? { hand.digest == digest && hand.count == count ? hand : nil }
    }
}
