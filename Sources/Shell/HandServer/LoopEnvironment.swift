import DequeModule
import EventLoop
import FoundationEssentials
import Glibc
import HandSync
import HandWire
import Logging

/// The environment of a machine on an event loop: its clock is the loop's, and its store runs on the loop's thread
/// pool.
final class LoopEnvironment: ServerEnvironment {
    private let loop: Loop
    let store: any CommitStore
    let logger: Logger
    private let threads: ReaderThreads
    /// The replies of a store that does not block, in order.
    @exclusivity(unchecked) private var replies: [StoreReply] = []
    /// The replies that are being delivered; a reused buffer.
    @exclusivity(unchecked) private var due: [StoreReply] = []
    // Accesses to the clock never overlap: notes come on the loop's thread, one at a time.
    @exclusivity(unchecked) private(set) var clock = CommitClock()
    /// The access rules.
    var access = AccessBook()
    /// Stores the access rules; nil if they are in memory only.
    weak var accessKeeper: (any AccessKeeper)?
    var audit: AuditLog?
    /// Callers of `ServerMachine.compact` that wait for the end of the compaction, in order.
    var compacting: Deque<(Result<Compaction, StoreError>) -> Void> = []

    init(loop: Loop, store: any CommitStore, logger: Logger) {
        self.loop = loop
        self.store = store
        self.logger = logger
        threads = ReaderThreads(loop)
    }

    var isShared: Bool { store.isShared }
    let serverID = UInt64.random(in: 1...UInt64(Int64.max))
    var now: UInt64 { loop.now }
    var wallClock: UInt64 { WallClock.milliseconds }
    func tell(_ hint: StoreHint) { store.tell(hint) }

    func start(_ request: StoreRequest, for machine: ServerMachine) {
        guard store.blocks else { return replies.append(request.run(on: store)) }
        let work = { @Sendable [store] in request.run(on: store) }
        if request.isWrite {
            Work.submit(loop, work) { machine.finished($0) }
        } else {
            threads.compute(work) { machine.finished($0) }
        }
    }

    func start(_ computation: Computation, for machine: ServerMachine) {
        threads.compute {
            computation.run()
        } then: {
            machine.finished($0)
        }
    }

    /// Delivers the replies of a store that does not block. Returns whether there were any.
    func deliver(to machine: ServerMachine) -> Bool {
        if replies.isEmpty { return false }
        swap(&replies, &due)
        for reply in due { machine.finished(reply) }
        due.clear()
        return true
    }

    func end(_ error: StoreError) {
        logger.critical("the server ends", metadata: ["error": "\(error)"])
        exit(1)
    }

    private var time: Date { Date(timeIntervalSince1970: Double(wallClock) / 1_000) }

    private func caller(of stream: any ByteStream) -> Caller? {
        (stream as? Socket)?.caller
    }

    func grant(to client: ClientID, token: String?, from stream: any ByteStream) -> Grant? {
        guard let caller = caller(of: stream) else { return nil }
        if let grant = access.grant(to: client, secret: token, from: caller, at: time) { return grant }
        return accessKeeper?.refresh() == true ? access.grant(to: client, secret: token, from: caller, at: time) : nil
    }

    func access(again id: String?, from stream: any ByteStream) -> Access? {
        guard let caller = caller(of: stream) else { return nil }
        return access.access(again: id, from: caller, at: time)
    }

    func bindRoles() -> @Sendable () throws -> Void {
        guard let accessKeeper else { return {} }
        return accessKeeper.bindRoles()
    }

    func called(_ logID: UInt64, _ name: String?) { accessKeeper?.called(logID, name) }

    func note(_ stage: CommitStage) { clock.note(stage, at: Loop.monotonicNanoseconds) }

    func note(_ note: ServerNote) {
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
        case .loaded(let list, let revision):
            logger.debug("loaded", metadata: ["list": "\(list)", "revision": .stringConvertible(revision)])
        case .unloaded(let list): logger.debug("unloaded", metadata: ["list": "\(list)"])
        case .stopping(let connections):
            logger.info("stopping", metadata: ["connections": .stringConvertible(connections)])
        case .storeFailed(let error): logger.error("the store failed", metadata: ["error": "\(error)"])
        case .writeFailed(let error):
            logger.critical("commits could not be written", metadata: ["error": "\(error)"])
        case .unsettled(let list):
            logger.warning(
                "the store did not say whether commits were written; asking again", metadata: ["list": "\(list.name)"])
        case .reloaded(let list, let error):
            logger.critical(
                "a list in memory differs from the store's; loading it again",
                metadata: ["list": "\(list.name)", "error": "\(error)"])
        case .vanished(let list):
            logger.notice(
                "a list is no longer in the store: another server deleted it, or the store went back",
                metadata: ["list": "\(list.name)"])
        case .trimFailed(let error): logger.warning("old commits were not removed", metadata: ["error": "\(error)"])
        case .sweepFailed(let error): logger.warning("a deleted list was not removed", metadata: ["error": "\(error)"])
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
