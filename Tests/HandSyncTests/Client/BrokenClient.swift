import HandCore
import HandSimulation
import HandSync
import HandWire

/// A correct client's frames, changed so that they break one requirement.
final class BrokenClient {
    enum Fault: CaseIterable {
        case sendsTwice, reusesRefusedSequence, sendsAgainOnEarlyAcknowledged, neverPings, ignoresWaits, makingIsZero
        case twoInFlight, submitsBeforeCatchingUp, baseTooLow, takesOwnDelta, countsIDs, drawsNewClientID
        case pingsBeforeHello, pingsLate, keepsDamagedSnapshot, submitsToOtherList, forgetsPresence, decomposesNames
        case otherEditAgain, ignoresUnknownMessages, refusesLargeFrames, refusesUnknownKinds, changesUnknownItems
        case misreadsUnknownItems, misreadsHistory, hammers, waitsTheSame, takesAnyVersion, returnsAfterUnknown
        case returnsAfterReplaced

        /// What the server does so that the fault shows.
        var provocation: Provocation? {
            switch self {
            case .takesAnyVersion: .version
            case .returnsAfterUnknown: .unknown
            case .returnsAfterReplaced: .replaced
            default: nil
            }
        }

        var breaks: Requirement {
            switch self {
            case .sendsTwice, .sendsAgainOnEarlyAcknowledged: .sentOnce
            case .reusesRefusedSequence, .otherEditAgain: .sequenceOnce
            case .neverPings: .neverSilent
            case .ignoresWaits: .waits
            case .makingIsZero: .sameAsMachine
            case .twoInFlight: .oneInFlight
            case .submitsBeforeCatchingUp: .caughtUp
            case .baseTooLow: .fitsBase
            case .takesOwnDelta: .commitsDelta
            case .countsIDs: .randomIDs
            case .drawsNewClientID: .clientIDKept
            case .pingsBeforeHello: .helloFirst
            case .pingsLate: .pingsInTime
            case .keepsDamagedSnapshot: .noDamage
            case .submitsToOtherList: .rightList
            case .forgetsPresence: .presenceAgain
            case .decomposesNames: .composedNames
            case .ignoresUnknownMessages: .closesOnUnknown
            case .refusesLargeFrames: .largeFrames
            case .refusesUnknownKinds, .changesUnknownItems, .misreadsUnknownItems: .unknownKinds
            case .misreadsHistory: .historyStart
            case .hammers, .waitsTheSame: .growingWaits
            case .takesAnyVersion: .offeredVersion
            case .returnsAfterUnknown: .stopsOnUnknown
            case .returnsAfterReplaced: .leavesSharedID
            }
        }
    }

    let fault: Fault
    private var reader = FrameReader(limit: Int(Int32.max))
    private var connections: UInt64 = 0
    private var author: AuthorID?
    private var last: Submission?
    private var refused: SequenceNumber?
    private var count: UInt64 = 0
    private var unknownItem: ItemID?

    /// How long the client waits before it connects again, whatever happened.
    var wait: UInt64? {
        switch fault {
        case .hammers: 0
        case .waitsTheSame: 100
        default: nil
        }
    }

    init(_ fault: Fault) {
        self.fault = fault
    }

    func connected() {
        connections += 1
        reader = FrameReader(limit: Int(Int32.max))
    }

    /// Returns what the broken client sends instead of some frames.
    func outgoing(_ frames: [UInt8]) -> [UInt8] {
        var whole = FrameReader(limit: frames.count)
        return bodies(frames, &whole).flatMap { body in
            guard let message = try? body.withUnsafeBytes({ try UpMessage($0) }) else { return Frame.around(body) }
            if case .subscribe = message, fault == .decomposesNames { return Frame.around(decomposed(body)) }
            let sent = outgoing(message).flatMap(\.frame)
            if case .submit(let submission) = message { last = submission }
            return sent
        }
    }

    /// Returns what the broken client makes of the server's bytes, what it sends at once, and whether it closes the
    /// connection instead of reading on.
    func incoming(_ bytes: [UInt8]) -> (up: [UInt8], down: [UInt8], hangsUp: Bool) {
        var (up, down): ([UInt8], [UInt8]) = ([], [])
        for body in bodies(bytes, &reader) {
            guard let message = try? body.withUnsafeBytes({ try DownMessage($0) }) else {
                if fault == .returnsAfterUnknown { return (up, down, true) }
                if fault != .ignoresUnknownMessages { down += Frame.around(body) }
                continue
            }
            noteUnknown(message)
            if fault == .refusesLargeFrames, body.count > 1 << 16 { return (up, down, true) }
            if fault == .refusesUnknownKinds, message.unknownItem != nil { return (up, down, true) }
            up += answers(to: message).flatMap(\.frame)
            down += incoming(message).frame
        }
        return (up, down, false)
    }

    private func noteUnknown(_ message: DownMessage) { unknownItem = unknownItem ?? message.unknownItem }

    private func answers(to message: DownMessage) -> [UpMessage] {
        switch (fault, message) {
        case (.sendsAgainOnEarlyAcknowledged, .acknowledged(_, let sequence, _)):
            return last?.sequence == sequence ? [.submit(last!)] : []
        case (.misreadsHistory, .pong):
            count = 1
            return [.history(request: 1_000, name: "list", from: 1, limit: 2)]
        case (.misreadsHistory, .history(let request, let commits, _)) where count < 20:
            // As if the first commit were the one that was asked for.
            count += UInt64(commits.count)
            return [.history(request: RequestNumber(request.rawValue + 1), name: "list", from: Int(count), limit: 2)]
        default: return []
        }
    }

    private func bodies(_ bytes: [UInt8], _ reader: inout FrameReader) -> [[UInt8]] {
        var bodies: [[UInt8]] = []
        bytes.withUnsafeBytes { all in
            try? reader.read(all) { (body) throws(WireError) -> Bool in
                bodies.append([UInt8](body))
                return true
            }
        }
        return bodies
    }

    /// The name `list`, in as many bytes, with a mark of its own on the second letter.
    private func decomposed(_ body: [UInt8]) -> [UInt8] {
        guard let at = body.indices.first(where: { body[$0...].starts(with: "list".utf8) }) else { return body }
        return Array(body[..<at]) + Array("li\u{301}".utf8) + Array(body[(at + 4)...])
    }

    private func outgoing(_ message: UpMessage) -> [UpMessage] {
        switch (fault, message) {
        case (_, .submit(let submission)): return outgoing(submission)
        case (.submitsBeforeCatchingUp, .subscribe): return [message] + (last.map { [.submit($0)] } ?? [])
        case (.drawsNewClientID, .hello(var hello)):
            hello.client = ClientID(high: 2, low: connections)
            return [.hello(hello)]
        case (.pingsBeforeHello, .hello): return [.ping(1), message]
        case (.neverPings, .ping): return []
        case (.pingsLate, .ping):
            count += 1
            return count % 2 == 0 ? [message] : []
        case (.forgetsPresence, .presence): return connections > 1 ? [] : [message]
        default: return [message]
        }
    }

    private func outgoing(_ submission: Submission) -> [UpMessage] {
        var changed = submission
        let isAgain = submission.sequence == last?.sequence
        switch fault {
        case .sendsTwice: return [.submit(submission), .submit(submission)]
        case .twoInFlight:
            changed.sequence = submission.sequence.next
            changed.delta = insertion()
            return [.submit(submission), .submit(changed)]
        case .reusesRefusedSequence: if let refused { changed.sequence = refused }
        case .makingIsZero: changed.lag = 0
        case .baseTooLow:
            changed.base = max(0, submission.base - 1)
            changed.lag = min(changed.lag, changed.base)
        case .countsIDs: if !submission.delta.insertedItems.isEmpty { changed.delta = insertion() }
        case .changesUnknownItems:
            if let unknownItem {
                changed.delta = Delta.inserting([Item(id: unknownItem, content: .note("?"))], at: 0, .after)
            }
        case .submitsToOtherList: if isAgain { changed.list = changed.list.next }
        case .otherEditAgain: if isAgain { changed.delta = insertion() }
        default: break
        }
        return [.submit(changed)]
    }

    private func insertion() -> Delta {
        count += 1
        return Delta.inserting([Item(id: ItemID(rawValue: 1 << 60 + count), content: .note("x"))], at: 0, .after)
    }

    private func incoming(_ message: DownMessage) -> DownMessage {
        switch (fault, message) {
        case (_, .welcome(var welcome)):
            author = welcome.author
            if fault == .takesAnyVersion { welcome.version = ProtocolVersion.highest }
            return .welcome(welcome)
        case (.ignoresWaits, .error(let code, let request, let list, _, let text)):
            return .error(code: code, request: request, list: list, retryAfter: 0, message: text)
        case (.reusesRefusedSequence, .rejected(_, let sequence, _)): refused = sequence
        case (.takesOwnDelta, .commit(let list, var commit))
        where commit.author == author && commit.sequence == last?.sequence && commit.refusal == nil:
            commit.delta = last?.delta ?? commit.delta
            return .commit(list: list, commit)
        case (.returnsAfterReplaced, .error(.replaced, let request, let list, let wait, let text)):
            return .error(code: .shuttingDown, request: request, list: list, retryAfter: wait, message: text)
        case (.misreadsUnknownItems, .commit(let list, var commit)) where message.unknownItem != nil:
            commit.delta = insertion()
            return .commit(list: list, commit)
        case (.keepsDamagedSnapshot, .subscribed(var subscribed)):
            guard case .snapshot(let revision, let count, let digest) = subscribed.start else { break }
            subscribed.start = .snapshot(revision: revision, count: count, digest: digest & ~AwkwardWire.damage)
            return .subscribed(subscribed)
        default: break
        }
        return message
    }
}

extension DownMessage {
    /// An item of an unknown kind that the message brings.
    fileprivate var unknownItem: ItemID? {
        func isUnknown(_ item: Item) -> Bool { if case .unknown = item.content { true } else { false } }
        switch self {
        case .commit(_, let commit): return commit.delta.insertedItems.first(where: isUnknown)?.id
        case .chunk(_, let items): return items.first(where: isUnknown)?.id
        default: return nil
        }
    }
}
