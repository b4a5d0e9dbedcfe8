import Foundation
import HandCore
import HandStore
import HandSync
import HandTestSupport
import Testing

/// Commands that are killed before each call that changes a file, each time on the same files. Afterwards the files are
/// in the old or the new state, and the same command does its work when run again.
@Suite(.serialized) struct KilledCommandTests {
    /// A folder that is set up again for each run.
    private struct Place {
        let folder: TemporaryFolder
        var data: String { folder.path + "/data" }
        var backup: String { folder.path + "/backup" }
        var copy: String { folder.path + "/copy" }

        init(_ prepare: (Place) throws -> Void) throws {
            folder = try TemporaryFolder(isInMemory: true)
            try prepare(self)
        }

        @discardableResult
        func hand(_ arguments: [String], killedAt step: Int? = nil) throws -> (status: Int32, isKilled: Bool) {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: Built.hand)
            process.arguments = arguments + ["--data", data]
            var environment = ["LD_PRELOAD": Built.faultyDisk, "FAULTY_DISK_FOLDER": folder.path]
            environment["FAULTY_DISK_KILL"] = step.map { "\($0)" }
            process.environment = outerEnvironment.merging(environment) { $1 }
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            return (process.terminationStatus, process.terminationReason == .uncaughtSignal)
        }

        /// Returns the names of the lists that a newly started server finds.
        func served() throws -> [String] { try Self.names(in: data) }

        static func names(in folder: String) throws -> [String] {
            let store = try KilledCommandTests.open(folder, .os)
            defer { try? store.close() }
            return try store.lists(after: "", limit: 99).map(\.name)
        }

        /// Returns the lists of each store that was moved aside.
        func aside() throws -> [[String]] {
            let names = try FileManager.default.contentsOfDirectory(atPath: data)
            return try names.filter { $0.firstMatch(of: #/replaced-[0-9]+$/#) != nil }.map { name in
                let copy = try TemporaryFolder(isInMemory: true)
                for ending in ["", "-wal"] where names.contains(name + ending) {
                    try FileManager.default.copyItem(
                        atPath: data + "/" + name + ending, toPath: copy.path + "/hand.sqlite" + ending)
                }
                return try Self.names(in: copy.path)
            }
        }
    }

    /// Runs a command on a fresh place, killed at its first step, its second, and so on until it runs to its end.
    private func killing(
        _ arguments: [String], in prepare: (Place) throws -> Void, _ verify: (Place, Int) throws -> Void
    ) throws {
        for step in 1..<1_000 {
            let place = try Place(prepare)
            let files = ["BACKUP": place.backup, "COPY": place.copy]
            let outcome = try place.hand(arguments.map { files[$0] ?? $0 }, killedAt: step)
            try verify(place, step)
            if outcome.isKilled { continue }
            #expect(outcome.status == 0)
            return #expect(step > 5, "\(step) steps")
        }
        Issue.record("the command never finishes")
    }

    /// Opens a store that this process had open before: a program that another test is just starting may still have its
    /// lock.
    private static func open(_ folder: String, _ durability: Durability) throws -> SQLiteStore {
        for _ in 0..<6_000 {
            do { return try SQLiteStore(folder: folder, durability: durability) } catch StoreError.inUse {
                usleep(10_000)
            }
        }
        return try SQLiteStore(folder: folder, durability: durability)
    }

    /// Makes a store as `kill -9` leaves it: one list in the database, another in the log. Also makes a backup with a
    /// third.
    private static func killedServer(_ place: Place) throws {
        let (other, alive) = (try TemporaryFolder(isInMemory: true), try TemporaryFolder(isInMemory: true))
        let saved = try SQLiteStore(folder: other.path, durability: .os)
        _ = try saved.create("saved", rules: Rules(), logID: 7, deckSeed: nil)
        try StoreBackup.write(other.path, to: place.backup)
        try saved.close()
        let first = try SQLiteStore(folder: alive.path, durability: .fsync)
        _ = try first.create("early", rules: Rules(), logID: 8, deckSeed: nil)
        try first.close()
        let store = try open(alive.path, .fsync)
        _ = try store.create("late", rules: Rules(), logID: 9, deckSeed: nil)
        try FileManager.default.copyItem(atPath: alive.path, toPath: place.data)
        try store.close()
    }

    private static func withoutDatabase(_ place: Place) throws {
        try killedServer(place)
        try FileManager.default.removeItem(atPath: place.data + "/hand.sqlite")
    }

    /// Killed anywhere, the store has its old contents or those of the backup, and nothing of it is lost.
    @Test func recoverDoesAllOrNothing() throws {
        try killing(["recover", "--replace", "BACKUP"], in: Self.killedServer) {
            (place: Place, step: Int) throws in
            // For a moment, there is no store under its name. That is no missing store.
            #expect([0, 1].contains(try place.hand(["verify"]).status), "step \(step)")
            let found = try place.served()
            if found == ["early", "late"] { return }
            #expect(found == ["saved"], "step \(step)")
            #expect(try place.aside() == [["early", "late"]], "step \(step)")
        }
    }

    @Test func recoverCanBeRunAgain() throws {
        try killing(["recover", "--replace", "BACKUP"], in: Self.killedServer) {
            (place: Place, step: Int) throws in
            #expect(try place.hand(["recover", "--replace", place.backup]).status == 0, "step \(step)")
            #expect(try place.served() == ["saved"], "step \(step)")
            #expect(try place.aside().contains(["early", "late"]), "step \(step)")
            #expect(try place.hand(["verify"]).status == 0, "step \(step)")
        }
    }

    /// SQLite would read a log whose database is gone into the backup.
    @Test func recoverNextToALogWithoutItsDatabase() throws {
        try killing(["recover", "BACKUP"], in: Self.withoutDatabase) { (place: Place, step: Int) throws in
            let again = try place.hand(["recover", place.backup])
            #expect([0, 1].contains(again.status), "a store may already exist")
            #expect(try place.served() == ["saved"], "step \(step)")
            #expect(try place.hand(["verify"]).status == 0, "step \(step)")
            let names = try FileManager.default.contentsOfDirectory(atPath: place.data)
            #expect(names.contains { $0.hasSuffix("-wal") && $0.contains("replaced") }, "the log is kept")
        }
    }

    @Test func backupDoesAllOrNothing() throws {
        try killing(["backup", "COPY"], in: Self.killedServer) { (place: Place, step: Int) throws in
            if !FileManager.default.fileExists(atPath: place.copy) {
                #expect(try place.hand(["backup", place.copy]).status == 0, "step \(step)")
            }
            try FileManager.default.removeItem(atPath: place.data)
            #expect(try place.hand(["recover", place.copy]).status == 0, "step \(step)")
            #expect(try place.served() == ["early", "late"], "step \(step)")
        }
    }

    @Test func aTokenExistsOrNot() throws {
        func prepare(_ place: Place) throws { try place.hand(["token", "create", "ada"]) }
        func tokens(_ place: Place) throws -> String {
            try String(contentsOfFile: place.data + "/access.json", encoding: .utf8)
        }
        try killing(["token", "create", "ben"], in: prepare) { (place: Place, step: Int) throws in
            #expect(try tokens(place).contains("ada"), "step \(step)")
            #expect(try place.hand(["token", "create", "cleo"]).status == 0, "step \(step)")
            #expect(try tokens(place).contains("cleo") && tokens(place).contains("ada"), "step \(step)")
        }
    }

    /// A revoked token stays revoked, and no other is affected.
    @Test func aRevocationTakesEffectOrCanBeRepeated() throws {
        func prepare(_ place: Place) throws {
            for name in ["ada", "ben"] { try place.hand(["token", "create", name]) }
        }
        func ids(_ place: Place) throws -> [String] {
            let text = try String(contentsOfFile: place.data + "/access.json", encoding: .utf8)
            return text.matches(of: #/"id" : "([0-9a-z]{6})"/#).map { String($0.1) }
        }
        // Ids are random, so each place has its own.
        for step in 1..<100 {
            let place = try Place(prepare)
            let all = try ids(place)
            let outcome = try place.hand(["token", "revoke", all[0]], killedAt: step)
            let left = try ids(place)
            #expect(left == all || left == [all[1]], "step \(step)")
            let again = try place.hand(["token", "revoke", all[0]])
            #expect(again.status == (left == all ? 0 : 3), "step \(step)")
            #expect(try ids(place) == [all[1]], "step \(step)")
            if !outcome.isKilled { return #expect(step > 3 && outcome.status == 0) }
        }
        Issue.record("the command never finishes")
    }
}
