import Foundation
import Testing

/// The disk fails while a store is copied, at every call in turn: a copy that has its name is complete and flushed.
@Suite(.serialized) struct BackupFaultTests {
    @Test(arguments: ["write full", "sync EIO"])
    func anExistingBackupIsComplete(fault: String) throws {
        let user = try FaultyUser()
        #expect(try user.hand("create", "list").status == 0 && user.hand("add", "item").status == 0)
        let folder = user.state + "/backups"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try FaultyUser.untilItIsTooLate { run in
            let file = "\(folder)/\(run)"
            let outcome = try user.hand("backup", file, "--data", user.server.data, fault: fault, after: run)
            let isThere = FileManager.default.fileExists(atPath: file)
            #expect(isThere || outcome.status != 0)
            if isThere { #expect(try user.hand("verify", file).status == 0, "\(run): \(outcome.messages)") }
            return outcome
        }
    }

    /// If a file got its name before it was flushed, the name would survive a power failure, and the contents would
    /// not.
    @Test func aBackupIsFlushedBeforeItHasItsName() throws {
        let user = try FaultyUser()
        #expect(try user.hand("create", "list").status == 0)
        let file = user.state + "/backup"
        let outcome = try user.hand("backup", file, "--data", user.server.data, fault: "sync EIO .partial")
        #expect(outcome.status == 1 && outcome.messages.contains("did not confirm"), "\(outcome.messages)")
        #expect(!FileManager.default.fileExists(atPath: file))
    }

    /// The same for a store, also for one whose lists need not be changed: a backup without lists.
    @Test(arguments: [false, true]) func aRestoredStoreIsFlushedBeforeItHasItsName(hasList: Bool) throws {
        let user = try FaultyUser()
        if hasList { #expect(try user.hand("create", "list").status == 0) }
        let backup = user.server.folder.path + "/backup"
        #expect(try user.hand("backup", backup, "--data", user.server.data).status == 0)
        user.trace = user.server.folder.path + "/trace"
        #expect(try user.hand("recover", backup, "--data", user.state + "/store").status == 0)
        let partial = "store/hand.sqlite.partial"
        let records = try DiskTrace(readingFrom: try #require(user.trace)).records.filter {
            switch $0 {
            case .write(partial, _, _), .truncate(partial, _), .sync(partial): true
            default: false
            }
        }
        #expect(records.count > 1 && records.last == .sync(file: partial), "\(records.map(\.summary))")
    }

    @Test(arguments: ["write full", "sync EIO"])
    func aRestoredStoreIsComplete(fault: String) throws {
        let user = try FaultyUser()
        #expect(try user.hand("create", "list").status == 0 && user.hand("add", "item").status == 0)
        let backup = user.server.folder.path + "/backup"
        #expect(try user.hand("backup", backup, "--data", user.server.data).status == 0)
        try FaultyUser.untilItIsTooLate { run in
            let folder = "\(user.state)/stores/\(run)"
            let outcome = try user.hand("recover", backup, "--data", folder, fault: fault, after: run)
            let isThere = FileManager.default.fileExists(atPath: folder + "/hand.sqlite")
            #expect(isThere || outcome.status != 0)
            if isThere {
                let report = try user.hand("verify", "--data", folder)
                #expect(report.status == 0 && report.output.contains("list: revision 1"), "\(run): \(report.output)")
            }
            return outcome
        }
    }
}
