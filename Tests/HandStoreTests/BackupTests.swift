import Foundation
import HandCore
import HandStore
import HandSync
import HandTestSupport
import Testing

/// Copies of a store are complete, and a restored one takes the place of another only if it may.
@Suite struct BackupTests {
    @Test func aBackupOfAServedStoreIsComplete() throws {
        let folder = try TemporaryFolder()
        try folder.makeStore(40)
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        let file = folder.path + "/copy"
        try StoreBackup.write(folder.path, to: file)
        #expect(try StoreVerifier(path: file).verify() == folder.verify())
        #expect(throws: StoreError.self) { try StoreBackup.write(folder.path, to: file) }
        try store.close()
    }

    /// A restored backup has other histories, does not replace a store unasked, and moves it aside on request.
    @Test func aBackupCanBeRestored() throws {
        let folder = try TemporaryFolder()
        try folder.makeStore(40)
        let file = folder.path + "/copy"
        try StoreBackup.write(folder.path, to: file)
        try folder.change("DELETE FROM commits")
        var random = SplitMix64(seed: 1)
        #expect(throws: StoreError.self) {
            _ = try StoreBackup.restore(
                file, to: folder.path, replaces: false, stamp: 5, accessFile: folder.path + "/access.json",
                random: &random)
        }
        // However often, and at whatever time: stores that were moved aside stay.
        for stamp in 5...6 {
            let aside = try StoreBackup.restore(
                file, to: folder.path, replaces: true, stamp: 5, accessFile: folder.path + "/access.json",
                random: &random
            ).aside
            #expect(aside == folder.path + "/hand.sqlite.replaced-\(stamp)")
            #expect(try FileManager.default.fileExists(atPath: #require(aside)))
            #expect(try folder.verify().isSound)
        }
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        let list = try #require(try store.list(named: "things"))
        #expect(list.logID != 9 && list.logID != 0)
        try store.close()
    }

    /// A killed server leaves a log beside its store. It is moved aside, too: next to the backup, SQLite would read it
    /// into the backup.
    @Test func theLogOfAKilledServerIsMovedAsideToo() throws {
        let (folder, killed) = (try TemporaryFolder(), try TemporaryFolder())
        try folder.makeStore(40)
        let file = folder.path + "/copy"
        try StoreBackup.write(folder.path, to: file)
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        _ = try store.create("later", rules: Rules(), logID: 8, deckSeed: nil)
        for name in ["/hand.sqlite", "/hand.sqlite-wal"] {
            try FileManager.default.copyItem(atPath: folder.path + name, toPath: killed.path + name)
        }
        try store.close()
        var random = SplitMix64(seed: 1)
        let restored = try StoreBackup.restore(
            file, to: killed.path, replaces: true, stamp: 5, accessFile: killed.path + "/access.json", random: &random)
        let aside = try #require(restored.aside)
        #expect(FileManager.default.fileExists(atPath: aside + "-wal"))
        #expect(!FileManager.default.fileExists(atPath: killed.path + "/hand.sqlite-wal"))
        let report = try killed.verify()
        #expect(report.isSound && report.lists.map(\.name) == ["things"])
        // The store that was moved aside is complete, log and all.
        let again = try TemporaryFolder()
        for ending in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: aside + ending, toPath: again.path + "/hand.sqlite" + ending)
        }
        let lists = try StoreVerifier(path: again.path).verify().lists
        #expect(lists.map(\.name) == ["later", "things"])
    }

    /// A recovery moves the database aside, and then its log, which here has one of the lists; a shorter database takes
    /// their place. Nobody sees a database without its log, or with that of the other.
    @Test func whoReadsDuringARecoverySeesAWholeStore() async throws {
        let (folder, saved, killed) = (try TemporaryFolder(), try TemporaryFolder(), try TemporaryFolder())
        try SQLiteStore(folder: saved.path, durability: .os).close()
        try folder.makeStore(40)
        let store = try SQLiteStore(folder: folder.path, durability: .fsync)
        defer { try? store.close() }
        _ = try store.create("late", rules: Rules(), logID: 8, deckSeed: nil)
        try FileManager.default.copyItem(atPath: folder.path + "/durability", toPath: killed.path + "/durability")
        let reader = Task.detached {
            var found: Set<[String]> = []
            while !Task.isCancelled {
                do {
                    let report = try StoreVerifier(path: killed.path).verify()
                    found.insert(report.lists.map(\.name))
                } catch StoreError.noStore {
                    // That is so between one store and the next.
                }
            }
            return found
        }
        let parts = ["/hand.sqlite", "/hand.sqlite-wal"].map { killed.path + $0 }
        for round in 0..<2_000 {
            unlink(parts[0])
            for part in parts.reversed() {
                let name = part.dropFirst(killed.path.count)
                try FileManager.default.copyItem(atPath: folder.path + name, toPath: killed.path + "/new")
                #expect(rename(killed.path + "/new", part) == 0)
            }
            // The reader is met at other points each time.
            usleep(UInt32(round % 500))
            let aside = parts.map { "\($0).replaced-\(round)" }
            try FileManager.default.copyItem(atPath: saved.path + "/hand.sqlite", toPath: killed.path + "/new")
            let moved = rename(parts[0], aside[0]) + rename(parts[1], aside[1])
            let replaced = rename(killed.path + "/new", parts[0])
            #expect(moved == 0 && replaced == 0)
        }
        reader.cancel()
        #expect(try await reader.value == [["late", "things"], []])
    }

    /// What was moved aside comes back with its log, as a killed server left it.
    @Test func aStoreWithALogCanBeRestored() throws {
        let (folder, killed) = (try TemporaryFolder(), try TemporaryFolder())
        try folder.makeStore(40)
        let store = try SQLiteStore(folder: folder.path, durability: .fsync)
        _ = try store.create("late", rules: Rules(), logID: 9, deckSeed: nil)
        for name in ["hand.sqlite", "hand.sqlite-wal"] {
            try FileManager.default.copyItem(atPath: "\(folder.path)/\(name)", toPath: "\(killed.path)/\(name)")
        }
        try store.close()
        let (new, file) = (try TemporaryFolder(), killed.path + "/hand.sqlite")
        var random = SplitMix64(seed: 1)
        _ = try StoreBackup.restore(
            file, to: new.path, replaces: false, renews: false, stamp: 5, accessFile: new.path + "/access.json",
            random: &random)
        let (found, wanted) = (try new.verify(), try folder.verify())
        #expect(found == wanted && found.lists.count == 2)
        let names = try FileManager.default.contentsOfDirectory(atPath: new.path)
        #expect(names.allSatisfy { !$0.contains("partial") }, "\(names)")
    }

    /// Of two backups to one file at a time, only one is written; what a killed one has left is begun anew.
    @Test func backupsToOneFileDoNotMix() throws {
        let folder = try TemporaryFolder()
        try folder.makeStore(10)
        let file = folder.path + "/copy"
        try Data("half".utf8).write(to: URL(fileURLWithPath: file + ".partial"))
        let other = open(file + ".partial", O_RDWR | O_CLOEXEC)
        #expect(flock(other, LOCK_EX | LOCK_NB) == 0)
        #expect {
            try StoreBackup.write(folder.path, to: file)
        } throws: { error in
            "\(error)".contains("is being written by another backup")
        }
        close(other)
        try StoreBackup.write(folder.path, to: file)
        #expect(try StoreVerifier(path: file).verify() == folder.verify())
    }

    @Test func aServedStoreIsNotReplaced() throws {
        let folder = try TemporaryFolder()
        try folder.makeStore(10)
        let file = folder.path + "/copy"
        try StoreBackup.write(folder.path, to: file)
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        defer { try? store.close() }
        var random = SplitMix64(seed: 1)
        #expect(throws: StoreError.inUse(path: folder.path)) {
            _ = try StoreBackup.restore(
                file, to: folder.path, replaces: true, stamp: 5, accessFile: folder.path + "/access.json",
                random: &random)
        }
    }
}
