import Foundation
import GRDB
import HandCore
import HandSimulation
import HandStore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// What a client keeps on disk.
@Suite struct ClientJournalTests {
    private let folder: TemporaryFolder
    private let client = ClientID(high: 5, low: .max)

    init() throws {
        folder = try TemporaryFolder(isInMemory: true)
    }

    private func journal(_ fresh: UInt64 = .max) throws -> ClientJournal {
        try ClientJournal(path: folder.path + "/state/0.sqlite", fresh: ClientID(high: 5, low: fresh))
    }

    /// Edits that were said to be kept survive a loss of power.
    @Test func itIsReallyFlushed() throws {
        let journal = try journal()
        #expect(try journal.synchronousLevel() == 2)
        try journal.close()
    }
}
