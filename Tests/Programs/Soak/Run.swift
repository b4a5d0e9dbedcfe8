import FaultyNetwork
import Foundation
import HandClient
import HandCore
import HandFormats
import HandStore

/// One run from the first client to the verified store.
struct Run {
    let seconds: Int
    let clients: Int
    let seed: UInt64
    let interval: Int
    let folder: String
    let tell: @Sendable (String) -> Void

    /// The number of seconds within which all workers must finish once the network is good again. A client's longest
    /// wait between two attempts is a quarter of that.
    private static let longestEnd = 60

    func run() async throws -> Verdict {
        let server = SoakServer(folder)
        let proxy = try FaultyProxy(to: try server.start(), seed: seed)
        let ledger = SoakLedger()
        let workers = try await makeWorkers(proxy, ledger)
        var samples = Samples()
        var watch: Task<Void, any Error>?
        let finished = try await withThrowingTaskGroup(of: Worker.self) { group in
            for worker in workers { group.addTask { await work(worker, ledger) } }
            do { try await weather(proxy, server, ledger, &samples) } catch { giveUp("\(error)", server.processID) }
            proxy.heal()
            ledger.finish()
            watch = watchTheEnd(server.processID, ledger)
            return try await group.reduce(into: []) { $0.append($1) }
        }
        var verdict = Verdict(samples)
        verdict.seconds = seconds
        verdict.acknowledged = ledger.acknowledged
        verdict.reconnects = proxy.traffic.connections - clients
        verdict.restarts = server.restarts
        let views = try await views(finished, &verdict)
        watch?.cancel()
        proxy.close()
        try server.stop()
        try compare(views, ledger, server, &verdict)
        verdict.problems = ledger.problems
        return verdict
    }

    /// Workers that wait for an answer that never comes would wait forever.
    private func watchTheEnd(_ server: Int32, _ ledger: SoakLedger) -> Task<Void, any Error> {
        Task {
            try await Task.sleep(for: .seconds(Self.longestEnd))
            for line in await ledger.unfinished() { tell(line) }
            giveUp("not everybody was done \(Self.longestEnd) s after the last fault", server)
        }
    }

    private func giveUp(_ reason: String, _ server: Int32) -> Never {
        kill(server, SIGKILL)
        tell("converged NO: \(reason)")
        exit(1)
    }

    private func makeWorkers(_ proxy: FaultyProxy, _ ledger: SoakLedger) async throws -> [Worker] {
        let maker = try HandClient(
            ClientConfiguration(
                server: .tcp(host: "127.0.0.1", port: proxy.address.port), person: "maker", program: "soak"))
        let workers = try (0..<clients).map {
            try Worker($0, port: proxy.address.port, folder: folder, ledger: ledger, seed: seed)
        }
        for list in Worker.sharedLists + workers.map(\.ownList) { try await maker.create(list) }
        await maker.close()
        return workers
    }

    /// A worker that fails reports it, and the others continue.
    private func work(_ worker: Worker, _ ledger: SoakLedger) async -> Worker {
        var worker = worker
        do { try await worker.work() } catch {
            ledger.isDoing(worker.number, nil)
            ledger.report("worker \(worker.number): \(error)")
            tell("worker \(worker.number) gives up: \(error)")
        }
        return worker
    }

    // MARK: The time of faults

    private func weather(
        _ proxy: FaultyProxy, _ server: SoakServer, _ ledger: SoakLedger, _ samples: inout Samples
    ) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        var weather = FaultSchedule(proxy, server, ledger, workers: clients, seed: seed)
        var (nextChange, nextLine, lastCount) = (start, start + .seconds(interval), 0)
        while clock.now < start + .seconds(seconds) {
            if clock.now >= nextChange {
                // The reason for the limit is given at `Samples`.
                let isEarly = clock.now < start + .seconds(seconds) / 4
                nextChange = clock.now + .milliseconds(try weather.change(mayRestart: isEarly))
            }
            if clock.now >= nextLine {
                nextLine += .seconds(interval)
                let holdings = (server: Holdings(of: "\(server.processID)"), own: Holdings(of: "self"))
                samples.add(server: holdings.server, own: holdings.own)
                let commits = ledger.commits
                let rate = Double(commits - lastCount) / Double(interval)
                tell(
                    String(
                        format: "%5d s  acknowledged %8d  commits %6.1f/s  reconnects %5d  restarts %3d",
                        Int((clock.now - start).components.seconds), ledger.acknowledged, rate,
                        proxy.traffic.connections - clients, server.restarts)
                        + "  server \(holdings.server)  own \(holdings.own)")
                lastCount = commits
            }
            try await Task.sleep(until: min(nextChange, nextLine), clock: clock)
        }
    }

    // MARK: The end

    /// Returns the lists as everybody sees them at the end. Clears `isConverged` if the views differ.
    private func views(_ workers: [Worker], _ verdict: inout Verdict) async throws -> [String: Hand] {
        var views: [String: Hand] = [:]
        verdict.isConverged = true
        for name in Worker.sharedLists + workers.map(\.ownList) {
            let followers = workers.filter { Worker.sharedLists.contains(name) || $0.ownList == name }
            var head = 0
            for worker in followers { head = max(head, try await worker.revision(of: name)) }
            for worker in followers {
                let view = try await worker.view(of: name, at: head)
                if let other = views[name], other != view { verdict.isConverged = false }
                views[name] = view
            }
            if let worker = followers.first {
                verdict.doubled += try await worker.doubledCommits(of: name, upTo: head)
            }
        }
        for worker in workers { await worker.close() }
        return views
    }

    /// Compares the store with the views and with the acknowledged edits, and verifies it.
    private func compare(
        _ views: [String: Hand], _ ledger: SoakLedger, _ server: SoakServer, _ verdict: inout Verdict
    ) throws {
        verdict.isVerified = try StoreVerifier(path: server.data).verify().isSound
        let store = try SQLiteStore(folder: server.data, durability: .fsync)
        defer { try? store.close() }
        for (name, view) in views {
            guard let list = try store.list(named: name) else { throw Broken("the store has no list '\(name)'") }
            let stored = try store.load(list.number).hand
            if stored != view { verdict.isConverged = false }
            let ids = Set(stored.map(\.id))
            verdict.doubled += stored.count - ids.count
            verdict.missing += ledger.expected(in: name).subtracting(ids).count
            if let model = ledger.model(of: name), model != stored {
                let right = Set(model.map(\.id))
                verdict.missing += right.subtracting(ids).count
                verdict.doubled += ids.subtracting(right).count
                ledger.report("'\(name)' differs from what its only author made")
            }
        }
    }
}
