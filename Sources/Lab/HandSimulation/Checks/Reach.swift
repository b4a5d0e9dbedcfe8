import HandCore
import HandWire

/// How often simulated worlds have reached each place: steps that had an effect, faults that hit something, answers of
/// every kind. What no seed reaches is not tested.
package struct Reach: Equatable, Sendable {
    package enum Group: String, CaseIterable, Sendable {
        case worlds, steps, faults, clients, servers, store, refusals, errors
    }

    package struct Place: Hashable, Sendable {
        package let group: Group
        package let name: String
    }

    package private(set) var counts: [Place: Int] = [:]

    package init() {}

    private mutating func note(_ group: Group, _ name: String) {
        counts[Place(group: group, name: name), default: 0] += 1
    }

    package mutating func add(_ other: Reach) { counts.merge(other.counts, uniquingKeysWith: +) }

    /// The places of a group, in their order, each with its count.
    package func counts(of group: Group) -> [(name: String, count: Int)] {
        Self.all.filter { $0.group == group }.map { ($0.name, counts[$0] ?? 0) }
    }

    package var missing: [Place] { Self.all.filter { counts[$0] == nil } }

    /// All places that worlds can reach.
    package static let all: [Place] =
        World.allCases.map { Place(group: .worlds, name: $0.rawValue) }
        + FaultSchedule.Kind.allCases.map { Place(group: $0.isFault ? .faults : .steps, name: "\($0)") }
        + Client.allCases.map { Place(group: .clients, name: $0.rawValue) }
        + Server.allCases.map { Place(group: .servers, name: $0.rawValue) }
        + Store.allCases.map { Place(group: .store, name: $0.rawValue) }
        + refusals.map { Place(group: .refusals, name: $0) } + errors.map { Place(group: .errors, name: "\($0)") }

    /// Other refusals and errors need clients that break rules on purpose, or limits that no world has.
    private static let refusals = ["listFull", "duplicateItem", "revisionMoved", "notStored", "reasonForgotten"]
    private static let errors: [ErrorCode] = [
        .notHand, .malformedMessage, .frameTooLarge, .idleTimeout, .tooManyConnections, .replaced, .noSuchList,
        .listExists, .notSubscribed, .shuttingDown, .internalError, .noSuchRevision, .listDamaged, .tooManyLists,
        .listDeleted,
    ]

    // MARK: Places

    enum World: String, CaseIterable {
        case oneServer = "one server"
        case twoServers = "two servers"
        case threeServers = "three servers"
        case fourServers = "four servers"
        case standby = "a standby that lags"
    }

    enum Client: String, CaseIterable {
        case dies
        case diesAtWrite = "dies at a write"
        case takesID = "takes another id"
        case isOffline = "is offline"
        case givesUp = "gives up"
        case isRefused = "is refused"
        case editsWait = "its edits wait"
        case isRenamed = "hears a new name"
        case resumes
        case snapshot = "gets a snapshot"
        case stale
        case acknowledgement
        case isAcknowledged = "is acknowledged"
        case isRejected = "is rejected"
        case losesAMove = "loses a move"
        case losesAField = "loses a field"
        case losesWords = "loses words"
        case diverges
        case isUsedTwice = "is used twice"
        case editsOnExcerpts = "an edit on an excerpt is committed"
    }

    enum Server: String, CaseIterable {
        case starts
        case dies
        case stops
        case endsAfterFlush = "ends after a failed flush"
        case loads
        case unloads
        case reloads = "loads anew"
        case vanishes = "a list vanishes"
        case isUnsettled = "an outcome is unknown"
        case writeFails = "a write fails"
        case snapshotFails = "a snapshot fails"
        case trimFails = "a trim fails"
        case sweepFails = "a removal fails"
        case storeFails = "the store fails"
        case creates
        case deletes
        case renames
        case undeletes
        case computes = "edits off the loop"
    }

    enum Store: String, CaseIterable {
        case losesWrites = "a crash loses writes"
        case keepsWrites = "a crash keeps unflushed writes"
        case requestLost = "a request is lost"
        case requestLate = "a request is late"
        case answerLost = "an answer is lost"
        case cutOff = "a server is cut off"
        case hintLost = "a hint is lost"
        case hintTwice = "a hint comes twice"
        case missed = "others came first"
        case gone
    }

    mutating func note(_ world: World) { note(.worlds, world.rawValue) }
    mutating func note(_ step: FaultSchedule.Kind) { note(step.isFault ? .faults : .steps, "\(step)") }
    mutating func note(_ client: Client) { note(.clients, client.rawValue) }
    mutating func note(_ server: Server) { note(.servers, server.rawValue) }
    mutating func note(_ store: Store) { note(.store, store.rawValue) }
    mutating func note(_ error: ErrorCode) { note(.errors, "\(error)") }

    mutating func note(_ rejection: Rejection) {
        note(Client.isRejected)
        note(.refusals, rejection.name)
    }

    mutating func note(_ loss: Superseded.Loss) {
        switch loss {
        case .move: note(Client.losesAMove)
        case .edit: note(Client.losesAField)
        case .words: note(Client.losesWords)
        }
    }
}
