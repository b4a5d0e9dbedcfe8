import EventLoop
import Foundation
import HandServer
import HandStore
import HandSync
import HandTestSupport
import Synchronization
import Testing

/// A store's work on the threads of a loop.
@Suite(.timeLimit(.minutes(5))) struct StoreThreadsTests {
    /// However many read, and however long: pending writes are done.
    @Test func readersDoNotKeepAWriterWaiting() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(folder: folder.path, durability: .os)
        let loop = try Loop()
        let threads = StoreThreads(loop, store)
        let mayEnd = DispatchSemaphore(value: 0)
        let order = Mutex<[String]>([])
        for reader in 0..<12 {
            threads.run(.reading) { _ in
                mayEnd.wait()
                return reader
            } then: { result in
                order.withLock { $0.append("\((try? result.get()) ?? -1)") }
            }
        }
        threads.run(.writing) { store in
            try store.create("list", rules: .init(), logID: 1, deckSeed: nil).name
        } then: { result in
            order.withLock { $0.append((try? result.get()) ?? "failed") }
            for _ in 0..<12 { mayEnd.signal() }
        }
        loop.run()
        let found = order.withLock { $0 }
        #expect(found.first == "list" && Set(found) == Set((0..<12).map(String.init) + ["list"]), "\(found)")
        loop.close()
        try store.close()
    }

    /// A nonblocking store answers in order, and never from within the request.
    @Test func aNonblockingStoreAnswersInOrder() throws {
        let loop = try Loop()
        let threads = StoreThreads(loop, MemoryStore())
        var order: [String] = []
        threads.run(.reading) { _ in
            "read"
        } then: {
            order.append((try? $0.get()) ?? "failed")
        }
        threads.run(.writing) { _ in
            "written"
        } then: {
            order.append((try? $0.get()) ?? "failed")
        }
        #expect(order.isEmpty && threads.deliver() && order == ["read", "written"] && !threads.deliver())
        loop.close()
    }
}
