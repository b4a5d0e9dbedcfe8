import HandCore
import HandSimulation
import HandSync
import HandWire

enum JournalTarget {
    /// Reads a checkpoint and then events, each with its length in front, on a list that the first byte chooses.
    static func run(_ bytes: [UInt8]) throws {
        var input = Input(bytes)
        var chaos = Chaos(seed: 1)
        let list = Hand(chaos.items(input.below(40)))
        let kept = input.bytes(Int(input.byte()))
        var replica = Replica(confirmed: list, revision: 0, logID: 1, sequence: 0)
        if let checkpoint = try? withBytes(kept, { (bytes) throws(WireError) in try Replica.Checkpoint(bytes) }) {
            // Not compared byte by byte: checkpoints of the first format are written in the second.
            let again = try withBytes(checkpoint.bytes, { (bytes) throws(WireError) in try Replica.Checkpoint(bytes) })
            try check(again == checkpoint, "a checkpoint does not read back")
            guard let begun = try? Replica(checkpoint, confirmed: list) else { return }
            replica = begun
        }
        while !input.isAtEnd {
            let kept = input.bytes(Int(input.byte()))
            guard let event = try? withBytes(kept, { (bytes) throws(WireError) in try JournalEvent(bytes) }) else {
                continue
            }
            try check(event.bytes == kept, "an event has two forms: \(event)")
            // An event that does not fit ends the reading of a journal.
            do { try replica.replay(event) } catch { return }
            try ReplicaLaws.check(replica)
        }
    }
}

enum ReplicaLaws {
    /// Checks what holds of a replica whatever a server sends and a disk returns. They decide whether items are unique
    /// and whether sequences agree, so these are not checked.
    static func check(_ replica: Replica) throws {
        guard let problem = replica.brokenInvariant() else { return }
        let others = ["an item is there twice", "what is in flight has not the last sequence"]
        try FuzzTargets.check(others.contains(problem), problem)
    }
}
