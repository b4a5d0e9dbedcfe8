import DequeModule
import EventLoop
import FoundationEssentials
import Glibc
import HandSync
import HandWire
import Logging

/// A server's machine on an event loop: the driver carries out the machine's effects. The loop's clock is the
/// machine's, and the store runs on the loop's thread pool.
final class ServerDriver {
    private let loop: Loop
    let machine: ServerMachine
    let store: any CommitStore
    let logger: Logger
    /// The number by which other servers know this one.
    let serverID = UInt64.random(in: 1...UInt64(Int64.max))
    let threads: ReaderThreads
    private let write: StoreWrite
    /// Runs the store's writes on a thread of the pool, one at a time.
    private lazy var writer = RepeatedWork(loop) { [write] in
        write.run()
    } then: { [unowned self] in
        finished(write.takeReply(), at: time)
    }
    // Accesses to the clock never overlap.
    @exclusivity(unchecked) private(set) var clock = CommitClock()
    @exclusivity(unchecked) private var latest: Moment
    /// The access rules.
    var access = AccessBook()
    /// Stores the access rules; nil if they are in memory only.
    weak var accessKeeper: (any AccessKeeper)?
    var audit: AuditLog?
    /// Callers of `compact` that wait for the end of the compaction, in order.
    private var compacting: Deque<(Result<Compaction, StoreError>) -> Void> = []

    init(_ configuration: ServerConfiguration, store: any CommitStore, loop: Loop, logger: Logger) {
        self.loop = loop
        self.store = store
        self.logger = logger
        threads = ReaderThreads(loop)
        write = StoreWrite(store)
        latest = Moment(now: loop.now, wallClock: WallClock.milliseconds)
        machine = ServerMachine(
            limits: configuration.limits, program: configuration.program, retention: configuration.retention,
            serverID: store.isShared ? serverID : nil, seed: configuration.seed,
            at: latest)
    }

    /// The present time. The wall clock is read once for each millisecond of the loop's clock.
    var time: Moment {
        if loop.now != latest.now { latest = Moment(now: loop.now, wallClock: WallClock.milliseconds) }
        return latest
    }

    // MARK: Turns

    /// Ends a turn of the loop. Returns whether another one must follow at once.
    func endTurn() -> Bool {
        let time = time
        carryOut(at: time)
        var hasMore = false
        repeat {
            hasMore = machine.endTurn(at: time) || hasMore
            let numbered = machine.takeNumbered()
            if numbered > 0 { clock.numbered(numbered, at: Loop.monotonicNanoseconds) }
        } while carryOut(at: time)
        return hasMore
    }

    /// Carries out all effects. Returns whether any of them was a question that is answered already.
    @discardableResult
    private func carryOut(at time: Moment) -> Bool {
        var isAnswered = false
        while let effect = machine.nextEffect() {
            if carryOut(effect, at: time) { isAnswered = true }
        }
        return isAnswered
    }

    private func carryOut(_ effect: ServerMachine.Effect, at time: Moment) -> Bool {
        switch effect {
        case .ask(let request): return ask(request, at: time)
        case .compute(let computation):
            threads.compute {
                computation.run()
            } then: { [unowned self] in
                machine.finished($0, at: self.time)
            }
        case .identify(let hello, let connection):
            machine.identified(connection, saying: hello, as: grant(to: hello, on: connection.stream), at: time)
            return true
        case .called(let logID, let name):
            accessKeeper?.called(logID, name)
            accessChanged()
            return true
        case .tell(let hint): store.tell(hint)
        case .note(let note): self.note(note)
        case .end(let error): end(error)
        }
        return false
    }

    /// Asks the store. Returns whether the answer is there already, because the store does not block.
    private func ask(_ request: StoreRequest, at time: Moment) -> Bool {
        if case .append = request { clock.writing(at: Loop.monotonicNanoseconds) }
        let bindRoles = request.changesName ? accessKeeper?.bindRoles() : nil
        guard store.blocks else {
            finished(request.run(on: store, bindRoles: bindRoles ?? { [] }), at: time)
            return true
        }
        if request.isWrite {
            write.begin(request, bindRoles: bindRoles)
            writer.start()
        } else {
            threads.compute { [store] in
                request.run(on: store)
            } then: { [unowned self] in
                finished($0, at: self.time)
            }
        }
        return false
    }

    private func finished(_ reply: StoreReply, at time: Moment) {
        if case .appended(_, .success) = reply { clock.written(at: Loop.monotonicNanoseconds) }
        machine.finished(reply, at: time)
    }

    func end(_ error: StoreError) {
        logger.critical("the server ends", metadata: ["error": "\(error)"])
        exit(1)
    }

    /// Makes the store free the space that it no longer needs. `then` gets what it has freed.
    func compact(_ then: @escaping (Result<Compaction, StoreError>) -> Void) {
        compacting.append(then)
        machine.compact()
    }

    // MARK: Access

    /// Call this when the access rules have changed.
    func accessChanged() {
        let date = date
        machine.accessChanged(at: time) { id, stream in
            (stream as? Socket).flatMap { access.access(again: id, from: $0.caller, at: date) }
        }
    }

    private func grant(to hello: UpMessage.Hello, on stream: any ByteStream) -> Grant? {
        guard let caller = (stream as? Socket)?.caller else { return nil }
        func grant() -> Grant? { access.grant(secret: hello.token, from: caller, at: date) }
        return grant() ?? (accessKeeper?.refresh() == true ? grant() : nil)
    }

    private var date: Date { Date(timeIntervalSince1970: Double(WallClock.milliseconds) / 1_000) }

    // MARK: Notes

    private func note(_ note: ServerNote) {
        if case .disconnected(let connection, let reason) = note, TLSError.isAboutCertificate(reason) {
            return self.note(.turnedAway(connection, reason: reason))
        }
        audit?.record(note)
        switch note {
        case .letIn(let connection): logger.debug("let in", metadata: about(connection))
        case .turnedAway(let connection, let reason):
            logger.info("turned away", metadata: about(connection, ["reason": "\(reason)"]))
        case .denied(let connection, let what, let list):
            logger.info("denied", metadata: about(connection, ["what": "\(what)", "list": list.map { "\($0)" }]))
        case .connected(let connection): logger.debug("connected", metadata: about(connection))
        case .disconnected(let connection, let reason):
            logger.debug("disconnected", metadata: about(connection, ["reason": "\(reason)"]))
        case .closing(let connection, let code):
            logger.info("closing a connection", metadata: about(connection, ["reason": "\(code)"]))
        case .created(let list, let requester):
            logger.info("created", metadata: ["list": "\(list)", "by": "\(requester.person)"])
        case .deleted(let list, let requester):
            logger.info("deleted", metadata: ["list": "\(list)", "by": "\(requester.person)"])
        case .renamed(let list, let new, let requester):
            logger.info("renamed", metadata: ["list": "\(list)", "to": "\(new)", "by": "\(requester.person)"])
        case .undeleted(let list, let new, let requester):
            logger.info("undeleted", metadata: ["list": "\(list)", "as": "\(new)", "by": "\(requester.person)"])
        case .removed(let list): logger.info("a deleted list was removed for good", metadata: ["list": "\(list)"])
        case .loaded(let list, let revision):
            logger.debug("loaded", metadata: ["list": "\(list)", "revision": .stringConvertible(revision)])
        case .unloaded(let list): logger.debug("unloaded", metadata: ["list": "\(list)"])
        case .stopping(let connections):
            logger.info("stopping", metadata: ["connections": .stringConvertible(connections)])
        case .storeFailed(let error): logger.error("the store failed", metadata: ["error": "\(error)"])
        case .writeFailed(let error):
            logger.critical("commits could not be written", metadata: ["error": "\(error)"])
        case .unsettled(let list, let error):
            logger.warning(
                "the store did not say whether commits were written; asking again",
                metadata: ["list": "\(list.name)", "error": "\(error)"])
        case .reloaded(let list, let error):
            logger.critical(
                "a list in memory differs from the store's; loading it again",
                metadata: ["list": "\(list.name)", "error": "\(error)"])
        case .vanished(let list):
            logger.notice(
                "a list is no longer in the store: another server deleted it, or the store went back",
                metadata: ["list": "\(list.name)"])
        case .trimFailed(let error): logger.warning("old commits were not removed", metadata: ["error": "\(error)"])
        case .sweepFailed(let error): logger.warning("deleted lists were not removed", metadata: ["error": "\(error)"])
        case .compacted(let result): compacting.popFirst()?(result)
        case .snapshotFailed(let error): logger.warning("a snapshot was not written", metadata: ["error": "\(error)"])
        }
    }

    /// Describes the other end of a connection: the peer, the person if known, and `more`.
    private func about(
        _ connection: Connection, _ more: [String: Logger.MetadataValue?] = [:]
    ) -> Logger.Metadata {
        let who = connection.requester
        return more.compactMapValues(\.self).merging(["peer": "\(who.peer)"]) { $1 }.merging(
            who.person.isEmpty ? [:] : ["person": "\(who.person)"]
        ) { $1 }
    }
}

/// A write of the store, which the loop's thread hands to a thread of the pool and gets back with its reply.
///
/// `@unchecked Sendable` is safe: the pool's thread uses it only while the work runs, and the loop's thread only before
/// and afterwards.
private final class StoreWrite: @unchecked Sendable {
    private let store: any CommitStore
    @exclusivity(unchecked) private var request: StoreRequest?
    @exclusivity(unchecked) private var bindRoles: (@Sendable () throws -> Set<String>)?
    @exclusivity(unchecked) private var reply: StoreReply?

    init(_ store: any CommitStore) { self.store = store }

    func begin(_ request: StoreRequest, bindRoles: (@Sendable () throws -> Set<String>)?) {
        (self.request, self.bindRoles) = (request, bindRoles)
    }

    func run() { reply = request.take()?.run(on: store, bindRoles: bindRoles ?? { [] }) }

    func takeReply() -> StoreReply {
        guard let reply = reply.take() else { preconditionFailure("there was no write") }
        return reply
    }
}
