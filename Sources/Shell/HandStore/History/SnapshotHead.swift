import Disk
import HandCore
import HandSync
import HandWire

/// Everything in a snapshot except the items: part 0 of it.
struct SnapshotHead {
    let count: Int
    let digest: UInt64
    let deck: Deck?
    /// The last submission of each client up to the snapshot, by the client's number.
    let sequences: [AuthorID: SequenceMark]

    init(of hand: Hand, deck: Deck?, sequences: [AuthorID: SequenceMark]) {
        (count, digest, self.deck, self.sequences) = (hand.count, hand.digest, deck, sequences)
    }

    /// A checksum, followed by the bytes that it covers. It is needed because the digest does not cover the deck.
    var bytes: [UInt8] {
        var writer = WireWriter()
        writer.varint(count)
        writer.word(digest)
        writer.byte(deck == nil ? 0 : 1)
        writer.blob(deck?.codes ?? [])
        writer.varint(sequences.count)
        for (client, mark) in sequences.sorted(by: { $0.key < $1.key }) {
            writer.number(client)
            writer.number(mark.author)
            writer.number(mark.sequence)
            writer.varint(mark.revision)
            writer.byte(mark.isRefused ? 1 : 0)
        }
        var all = WireWriter(reserving: writer.count + 8)
        all.word(Self.checksum(writer.bytes))
        all.raw(writer.bytes)
        return all.bytes
    }

    /// - Throws: `WireError`, or `StoreError.damaged`, naming `what`.
    init(_ bytes: UnsafeRawBufferPointer, _ what: String) throws {
        var reader = WireReader(bytes)
        let checksum = try reader.word("checksum")
        guard checksum == Self.checksum([UInt8](bytes[8...])) else {
            throw StoreError.damaged("\(what) has another checksum")
        }
        count = try reader.count("number of items")
        digest = try reader.word("digest")
        let hasDeck = try reader.byte("deck") == 1
        let codes = try reader.blob("deck")
        deck = hasDeck ? Deck(codes: codes) : nil
        var sequences: [AuthorID: SequenceMark] = [:]
        for _ in 0..<(try reader.count("number of clients")) {
            let client: AuthorID = try reader.number("client")
            sequences[client] = SequenceMark(
                author: try reader.number("author"), sequence: try reader.number("sequence"),
                revision: try reader.revision("revision"), isRefused: try reader.byte("whether it was refused") == 1)
        }
        self.sequences = sequences
        try reader.expectEnd(of: what)
    }

    private static func checksum(_ bytes: [UInt8]) -> UInt64 {
        var checksum = Checksum(of: "snapshots")
        checksum.add(.bytes(bytes))
        return UInt64(bitPattern: checksum.stored)
    }
}
