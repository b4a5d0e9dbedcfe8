import EventLoop
import Foundation
import HandServer
import HandStore
import HandSync
import HandTestSupport
import Synchronization
import Testing

/// A store's work on the threads of a loop.
@Suite(.timeLimit(.minutes(5))) struct ReaderThreadsTests {
    /// However many read, and however long: pending writes are done.
    @Test func readersDoNotKeepAWriterWaiting() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        let loop = try Loop()
        let threads = ReaderThreads(loop)
        let mayEnd = DispatchSemaphore(value: 0)
        let order = Mutex<[String]>([])
        for reader in 0..<12 {
            threads.compute {
                mayEnd.wait()
                return reader
            } then: { reader in
                order.withLock { $0.append("\(reader)") }
            }
        }
        Work.submit(loop) {
            (try? store.create("list", rules: .init(), logID: 1, deckSeed: nil, owner: nil).name) ?? "failed"
        } then: { name in
            order.withLock { $0.append(name) }
            for _ in 0..<12 { mayEnd.signal() }
        }
        loop.run()
        let found = order.withLock { $0 }
        #expect(found.first == "list" && Set(found) == Set((0..<12).map(String.init) + ["list"]), "\(found)")
        loop.close()
        try store.close()
    }
}
