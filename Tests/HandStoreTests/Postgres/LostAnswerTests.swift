import EventLoop
import FaultyNetwork
import Foundation
import HandCore
import HandStore
import HandSync
import HandTestSupport
import HandWire
import PostgresServer
import Synchronization
import Testing

/// The database is lost, or falls silent, at the wrong moment. No unknown outcome is reported as known, and nothing is
/// committed twice.
@Suite(needsPostgres) struct LostAnswerTests {
    private let folder: TemporaryFolder
    private let store: PostgresStore
    private let list: ListNumber
    private let server: PostgresServer

    init() throws {
        folder = try TemporaryFolder()
        server = try PostgresServer.shared.get()
        store = try .shared(folder)
        list = try store.newList()
    }

    private func revision() throws -> Int? { try store.list(named: "things")?.revision }

    /// Appends while another session holds the list's row, runs `body` once the store waits for it, and releases the
    /// row when the store has answered. Returns the answer.
    private func append(
        _ batch: CommitBatch, to store: PostgresStore, waiting body: (_ pid: String) throws -> Void
    ) throws -> Appended? {
        let address = try PostgresAddress(server.address())
        let holder = try PostgresConnector(to: address, setup: []).connect([], by: Deadline(in: .seconds(20)))
        let hold = "SELECT 1 FROM \(folder.schema).lists WHERE number = \(list) FOR UPDATE"
        _ = try holder.run([PostgresCall("BEGIN"), PostgresCall(hold)], by: Deadline(in: .seconds(20)))
        let done = DispatchSemaphore(value: 0)
        let answer = Mutex<Appended?>(nil)
        Thread {
            let found = try? store.append([batch], by: []).first
            answer.withLock { $0 = found }
            done.signal()
        }.start()
        var pid = ""
        try eventually("the store waits") {
            pid = try server.query(
                "SELECT pid FROM pg_stat_activity WHERE \(holder.backend) = ANY (pg_blocking_pids(pid))")
            return !pid.isEmpty
        }
        try body(pid)
        done.wait()
        _ = try holder.run(PostgresCall("ROLLBACK"), by: Deadline(in: .seconds(20)))
        return answer.withLock { $0 }
    }

    /// The server ends the session while it works, as an administrator or a lack of memory would.
    @Test func anEndedSessionLeavesTheOutcomeUnknown() throws {
        let batch = try SharedWriter(store, list, client: 1).batch(3)
        let answer = try append(batch, to: store) { try server.query("SELECT pg_terminate_backend(\($0))") }
        #expect(answer?.isUnknown == true)
        #expect(try revision() == 0)
        #expect(try store.append([batch], by: []) == [.taken])
        #expect(try store.append([batch], by: []) == [.taken])
        #expect(try store.frames(of: list, after: 0, about: .max).count == 3)
    }

    /// The outcome of an append that takes too long is also unknown; the server has given up by itself then.
    @Test func aListHeldForTooLongLeavesTheOutcomeUnknown() throws {
        let hasty = try PostgresStore.shared(folder, timeout: .seconds(2))
        let batch = try SharedWriter(hasty, list, client: 1).batch()
        let answer = try append(batch, to: hasty) { pid in
            try eventually("the server gives up") {
                try server.query("SELECT count(*) FROM pg_stat_activity WHERE pid = \(pid) AND state = 'active'") == "0"
            }
        }
        #expect(answer?.isUnknown == true)
        #expect(try revision() == 0)
        #expect(try hasty.append([batch], by: []) == [.taken])
        hasty.close()
    }

    // MARK: A network that falls silent

    /// Runs `body` with a store whose connections lead through a bad network.
    private func throughProxy(_ body: (PostgresStore, FaultyProxy) throws -> Void) throws {
        let server = try PostgresServer.onNetwork.get()
        let target = try SocketAddress(ip: "127.0.0.1", port: UInt16(server.port))
        let proxy = try FaultyProxy(to: target, seed: 1)
        defer { proxy.close() }
        let store = try PostgresStore(
            "postgres://hand@127.0.0.1:\(proxy.address.port)/hand?connect_timeout=1", schema: folder.schema,
            timeout: .seconds(2))
        defer { store.close() }
        try body(store, proxy)
    }

    /// The batch is committed, but no answer arrives.
    @Test func aLostAnswerLeavesTheOutcomeUnknown() throws {
        try throughProxy { store, proxy in
            let list = try store.newList()
            let writer = try SharedWriter(store, list, client: 1)
            let batch = try writer.batch(2)
            try store.append([CommitBatch(list: list, expected: 0, commits: [])], by: [])
            proxy.change { $0.down.isSilent = true }
            #expect(try store.append([batch], by: []).map(\.isUnknown) == [true])
            // Nor is there an answer to a question.
            #expect { try store.load(list) } throws: { error in
                if case StoreError.unreachable = error { true } else { false }
            }
            proxy.heal()
            #expect(try store.append([batch], by: []) == [.taken])
            #expect(try store.frames(of: list, after: 0, about: .max).count == 2)
        }
    }

    /// The batch does not even reach the server.
    @Test func aLostBatchLeavesTheOutcomeUnknown() throws {
        try throughProxy { store, proxy in
            let list = try store.newList()
            let batch = try SharedWriter(store, list, client: 1).batch(2)
            proxy.change { $0.up.isSilent = true }
            #expect(try store.append([batch], by: []).map(\.isUnknown) == [true])
            proxy.heal()
            #expect(try store.append([batch], by: []) == [.taken])
            #expect(try store.frames(of: list, after: 0, about: .max).count == 2)
        }
    }

    // MARK: A server that stops

    @Test func aRestartedServerIsUsedAgain() throws {
        let server = try PostgresServer()
        let store = try PostgresStore(server.address(), timeout: .seconds(2))
        let list = try store.newList()
        var writer = try SharedWriter(store, list, client: 1)
        try writer.append(2)
        server.stop()
        let batch = try writer.batch()
        #expect(try writer.append(batch).isUnknown)
        #expect { try store.list(named: "things") } throws: { error in
            guard case StoreError.unreachable(let place, _) = error else { return false }
            return place.hasPrefix("hand at /tmp/hand-pg-")
        }
        try server.start()
        #expect(try writer.append(batch) == .taken)
        #expect(try store.load(list).revision == 3)
        // Unnoticed: open connections are closed, and the next request opens a new one.
        server.stop()
        try server.start()
        #expect(try store.load(list).revision == 3)
        try writer.append()
        store.close()
    }

    /// A commit that a standby has not confirmed may be lost when it takes over, so its outcome is unknown. The server
    /// waits for a missing standby until somebody ends the wait; the successful answer then comes with a warning.
    @Test func anUnconfirmedCommitIsUnknown() throws {
        let server = try PostgresServer()
        let store = try PostgresStore(server.address(), timeout: .seconds(2))
        let list = try store.newList()
        let batch = try SharedWriter(store, list, client: 1).batch()
        try setStandby("nobody", of: server)
        try inParallel(2) { index in
            if index == 0 {
                let why = "the transaction may not be durable: canceling wait for synchronous replication"
                #expect(try "\(store.append([batch], by: []))".contains(why))
            } else {
                try eventually("it waits for the standby") {
                    try server.query(
                        "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
                        == "1"
                }
            }
        }
        #expect(try store.frames(of: list, after: 0, about: .max).count == 1, "it is stored")
        // Still nobody has confirmed it: that it is stored does not make it durable.
        #expect(try store.append([batch], by: []).map(\.isUnknown) == [true])
        try setStandby("", of: server)
        #expect(try store.append([batch], by: []) == [.taken])
        #expect(try store.frames(of: list, after: 0, about: .max).count == 1)
        store.close()
    }

    /// An append under a lock waits for the standby like all others.
    @Test func anUnconfirmedCommitUnderALockIsUnknown() throws {
        let server = try PostgresServer()
        let store = try PostgresStore(server.address(), timeout: .seconds(2), lockTime: .seconds(15))
        let other = try PostgresStore(server.address())
        let list = try store.newList()
        var (unlucky, lucky) = (try SharedWriter(store, list, client: 1), try SharedWriter(other, list, client: 2))
        for _ in 0..<7 {
            let late = try unlucky.batch()
            try lucky.append()
            guard case .conflict = try unlucky.append(late) else { throw CancellationError() }
        }
        try setStandby("nobody", of: server)
        let batch = try unlucky.batch()
        #expect(try unlucky.append(batch).isUnknown)
        try setStandby("", of: server)
        #expect(try unlucky.append(batch) == .taken)
        #expect(try other.load(list).revision == 8)
        store.close()
        other.close()
    }

    private func setStandby(_ name: String, of server: PostgresServer) throws {
        try server.query("ALTER SYSTEM SET synchronous_standby_names = '\(name)'")
        try server.query("SELECT pg_reload_conf()")
        try eventually("the setting is in force") { try server.query("SHOW synchronous_standby_names") == name }
    }
}

extension Appended {
    fileprivate var isUnknown: Bool { if case .unknown = self { true } else { false } }
}
