import HandCore

extension ClientMachine {
    /// A list that is arriving in chunks.
    package struct IncomingSnapshot: Sendable {
        /// The items that have arrived.
        var hand: Hand
        let revision: Int
        let count: Int
        let digest: UInt64
        let logID: UInt64
        let lastSequence: SequenceNumber
        let isLastRefused: Bool

        init(
            revision: Int, count: Int, digest: UInt64, rules: Rules, logID: UInt64 = 0,
            lastSequence: SequenceNumber = 0,
            isLastRefused: Bool = false
        ) {
            hand = Hand(rules: rules)
            self.revision = revision
            self.count = count
            self.digest = digest
            self.logID = logID
            self.lastSequence = lastSequence
            self.isLastRefused = isLastRefused
        }

        var isComplete: Bool { hand.count >= count }

        /// Returns the whole list, or nil if it is not what the server announced.
        func assembled() -> Hand? {
            hand.digest == digest && hand.count == count ? hand : nil
        }
    }
}
