import Foundation
import HandCore
import HandStore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// A log with wrong bits or missing frames: at its end that is possible, because the power fails; in the middle it is
/// not.
@Suite struct LogCheckTests {
    /// A store with a log of a few transactions, each an edit of one list, and for each frame whether it ends one.
    private struct Sample {
        let image: DiskImage
        let ends: [Bool]
        let frameSize: Int

        /// - Parameter itemBytes: the size of an item. Large items make transactions of many frames.
        init(_ durability: Durability, itemBytes: Int) throws {
            let folder = try TemporaryFolder(isInMemory: true)
            let store = try SQLiteStore(folder: folder.path, durability: durability)
            let list = try store.create("list", rules: Rules(), logID: 1, deckSeed: nil)
            let author = try store.knownAuthor(for: ClientID(high: 1, low: 1), person: "ada")
            for turn in 0..<6 {
                var authority = Authority(try store.load(list.number), limits: Limits())
                let text = String(repeating: "x", count: itemBytes)
                let item = Item(id: ItemID(rawValue: UInt64(turn) + 1), content: .note(text))
                let submission = Submission(
                    list: list.number, base: turn, sequence: SequenceNumber(turn) + 1,
                    delta: Delta.inserting([item], at: 0, .after))
                _ = authority.submit(submission, author: author, now: 0)
                try store.append([
                    authority.takeBatch()
                ])
            }
            let names = ["hand.sqlite", "hand.sqlite-wal"] + (durability == .fsync ? ["durability"] : [])
            image = try DiskImage(of: folder.path, names)
            let log = try #require(image.files["hand.sqlite-wal"])
            let pageSize = Int(log[10]) << 8 | Int(log[11])
            frameSize = pageSize + 24
            ends = stride(from: 32, to: log.count, by: frameSize).map { log[$0 + 4..<$0 + 8].contains { $0 != 0 } }
            try store.close()
        }

        func offset(_ frame: Int) -> Int { 32 + frame * frameSize }

        /// The frames of the last transaction.
        var last: Range<Int> { (ends.dropLast().lastIndex(of: true) ?? -1) + 1..<ends.count }
    }

    /// Returns the list's revision, or nil if the log is refused.
    private func revision(_ image: DiskImage) throws -> Int? {
        let folder = try TemporaryFolder(isInMemory: true)
        try image.write(to: folder.path)
        do {
            let store = try SQLiteStore(folder: folder.path, durability: .fsync)
            defer { try? store.close() }
            return try store.list(named: "list")?.revision ?? 0
        } catch StoreError.damaged(let what) {
            #expect(what.contains("hand.sqlite-wal") && what.contains("moving that file away"))
            // Nor is it called sound, or copied.
            #expect(throws: StoreError.damaged(what)) { try StoreVerifier(path: folder.path) }
            #expect(throws: StoreError.damaged(what)) { try StoreBackup.write(folder.path, to: folder.path + "/copy") }
            for (name, bytes) in image.files {
                #expect([UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + name))) == bytes)
            }
            return nil
        }
    }

    /// In the page, in the checksum, in the salts, and in the number that marks the last frame of a transaction.
    @Test(arguments: [10, 9_000], [("page", 24 + 100), ("page number", 3), ("checksum", 17), ("salt", 9), ("end", 7)])
    func flipsInFramesAreNoticed(itemBytes: Int, place: (name: String, offset: Int)) throws {
        let sample = try Sample(.fsync, itemBytes: itemBytes)
        #expect(try revision(sample.image) == 6)
        for frame in sample.ends.indices {
            var image = sample.image
            image.flip((sample.offset(frame) + place.offset) * 8 + 1, of: "hand.sqlite-wal")
            let found = try revision(image)
            if frame < sample.last.lowerBound - 1 {
                #expect(found == nil, "\(place.name) of frame \(frame)")
            } else if frame >= sample.last.lowerBound {
                #expect(found == 5 || found == nil && place.name == "end", "\(place.name) of frame \(frame)")
            } else {
                // The end of the transaction before the last: detected unless its header is in two sectors or is itself
                // wrong.
                #expect(found == nil || found == 4, "\(place.name) of frame \(frame)")
            }
        }
    }

    @Test func everyFlipInTheHeaderIsRefused() throws {
        let sample = try Sample(.fsync, itemBytes: 10)
        for bit in 0..<32 * 8 {
            var image = sample.image
            image.flip(bit, of: "hand.sqlite-wal")
            // One flip of the counter of log restarts looks as if the log was being restarted.
            let found = try revision(image)
            #expect(found == nil || bit == 15 * 8, "bit \(bit)")
        }
    }

    /// The last transaction was being written: it is cut anywhere, or some of its sectors are missing while later ones
    /// are present.
    @Test(arguments: [10, 9_000])
    func theLastTransactionMayBeTorn(itemBytes: Int) throws {
        let sample = try Sample(.fsync, itemBytes: itemBytes)
        let log = "hand.sqlite-wal"
        let size = try #require(sample.image.files[log]?.count)
        let start = sample.offset(sample.last.lowerBound)
        for cut in stride(from: start, to: size, by: 203) {
            var image = sample.image
            image.apply(.truncate(file: log, size: cut))
            #expect(try revision(image) == 5, "cut at \(cut)")
        }
        for sector in stride(from: start / 512 * 512, to: size, by: 512) {
            let missing = max(sector, start)..<min(sector + 512, size)
            guard sample.image.files[log]?[missing].contains(where: { $0 != 0 }) == true else { continue }
            var image = sample.image
            image.apply(
                .write(file: log, offset: missing.lowerBound, bytes: Array(repeating: 0, count: missing.count)[...]))
            #expect(try revision(image) == 5, "without the sector at \(sector)")
        }
    }

    /// Without flushes, any of the last transactions may be torn, also after flushes were requested again.
    @Test func withoutFlushesNothingIsRefused() throws {
        let sample = try Sample(.os, itemBytes: 10)
        for frame in sample.ends.indices {
            var image = sample.image
            image.flip((sample.offset(frame) + 100) * 8, of: "hand.sqlite-wal")
            #expect(try revision(image) != nil, "frame \(frame)")
        }
    }

    /// Pages at the database's end that neither the database nor its log has are lost; others are in the log.
    @Test func aTruncatedDatabaseIsRefused() throws {
        let sample = try Sample(.fsync, itemBytes: 9_000)
        let folder = try TemporaryFolder(isInMemory: true)
        let size = try #require(sample.image.files["hand.sqlite"]?.count)
        var refused = 0
        for cut in stride(from: 1, through: size - 4_096, by: 4_096) {
            var image = sample.image
            image.apply(.truncate(file: "hand.sqlite", size: size - cut))
            try image.write(to: folder.path)
            let opened = Result {
                let store = try SQLiteStore(folder: folder.path, durability: .fsync)
                defer { try? store.close() }
                return try store.list(named: "list")?.revision
            }
            switch opened {
            case .success(let revision): #expect(revision == 6, "without \(cut) bytes")
            case .failure(let error):
                #expect("\(error)".contains("hand.sqlite is shorter than it was"))
                #expect(throws: StoreError.self) { try StoreVerifier(path: folder.path) }
                refused += 1
            }
        }
        #expect(refused > 3)
    }

    /// A database that is gone is not a new one. Nothing is made in its place.
    @Test(arguments: [true, false], ["missing", "empty"])
    func aLostDatabaseIsRefused(isFlushed: Bool, how: String) throws {
        let folder = try TemporaryFolder(isInMemory: true)
        let durability: Durability = isFlushed ? .fsync : .os
        try SQLiteStore(folder: folder.path, durability: durability).close()
        let file = folder.path + "/hand.sqlite"
        try FileManager.default.removeItem(atPath: file)
        if how == "empty" { try Data().write(to: URL(fileURLWithPath: file)) }
        guard isFlushed else { return try SQLiteStore(folder: folder.path, durability: durability).close() }
        #expect {
            try SQLiteStore(folder: folder.path, durability: durability)
        } throws: { error in
            "\(error)".contains("\(file) is \(how), although its folder had a store")
        }
        #expect(FileManager.default.fileExists(atPath: file) == (how == "empty"))
    }

    @Test func theStoreKnowsHowItWasWritten() throws {
        let folder = try TemporaryFolder(isInMemory: true)
        let mark = folder.path + "/durability"
        for durability in [Durability.fsync, .os, .fsync, .fsync, .os, .os] {
            let store = try SQLiteStore(folder: folder.path, durability: durability)
            #expect(FileManager.default.fileExists(atPath: mark) == (durability == .fsync))
            try store.close()
        }
    }
}
