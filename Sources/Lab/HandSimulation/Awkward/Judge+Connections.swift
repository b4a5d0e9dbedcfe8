import HandCore
import HandWire

/// The rules for connections.
extension Judge {
    mutating func judge(_ body: [UInt8], on id: Int, _ now: UInt64) {
        let message: UpMessage
        do {
            message = try body.withUnsafeBytes { try UpMessage($0) }
        } catch {
            note(">", "malformed", body, id, now)
            guard talks[id]?.isClosing == false else { return }
            if case .notComposed? = error as? WireError {
                return find(.composedNames, "a name is in another form", on: id)
            }
            return find(.sameAsMachine, "the page does not allow these bytes: \(error)", on: id)
        }
        note(">", message.name, body, id, now)
        if judgeStrange(id, now) { return }
        judgeSilence(id, now, endsWithPing: message.isPing)
        talks[id]?.lastHeard = now
        guard talks[id]?.isClosing == false else {
            if case .submit(let submission) = message { note(submission, on: id) }
            return
        }
        if case .hello(let hello) = message { return judge(hello, on: id, now) }
        guard let client = talks[id]?.client else {
            return find(.helloFirst, "the first frame is '\(message.name)'", on: id)
        }
        switch message {
        case .subscribe(let subscribe): ask(subscribe, on: id)
        case .unsubscribe(let list): talks[id]?.follows[list] = nil
        case .history(let request, let name, let first, _): ask(request, name, from: first, of: client, on: id)
        case .presence(let list, let focus):
            talks[id]?.hasPresence.insert(list)
            if focus == nil { clients[client]?.isOnItem.remove(list) } else { clients[client]?.isOnItem.insert(list) }
        case .submit(let submission): judge(submission, of: client, on: id)
        default: break
        }
    }

    private mutating func judge(_ hello: UpMessage.Hello, on id: Int, _ now: UInt64) {
        exercise(.helloFirst)
        if talks[id]?.client != nil { find(.helloFirst, "there is a second hello", on: id) }
        talks[id]?.client = hello.client
        talks[id]?.versions = hello.lowestVersion...max(hello.lowestVersion, hello.highestVersion)
        for (other, talk) in talks where other != id && talk.client == hello.client && !talk.isClosing {
            talks[other]?.rival = (id, Aftermath(now))
        }
        if clients[hello.client] == nil { clients[hello.client] = Client() }
        clients[hello.client]?.helloCount += 1
        if clients[hello.client]?.hasOpenEdits == true { exercise(.clientIDKept) }
        judgeReturn(of: hello.client, on: id)
    }

    private mutating func ask(_ subscribe: UpMessage.Subscribe, on id: Int) {
        talks[id]?.asked[subscribe.request] = subscribe
        judgeDoubts(subscribe, on: id)
        if subscribe.name.utf8.contains(where: { $0 >= 0xCC }) { exercise(.composedNames) }
        for (list, follow) in talks[id]?.follows ?? [:] where follow.asked.name == subscribe.name && !follow.isDamaged {
            talks[id]?.follows[list]?.isOver = true
            // Only a client that has diverged asks for a list of which it keeps only the lower half of the log id.
            guard subscribe.logID != 0, subscribe.logID >> 32 == 0 else { continue }
            let isUnknown = follow.unknownAt != nil && follow.rebasedAt == nil
            find(
                isUnknown ? .unknownKinds : .commitsDelta,
                "the client's list was no longer the server's, and all frames were right", on: id)
        }
    }

    /// Notes that the client has sent something.
    mutating func noteRead(on id: Int, _ now: UInt64) {
        talks[id]?.strange?.since.read(now)
        for list in (talks[id]?.follows ?? [:]).keys { talks[id]?.follows[list]?.since.read(now) }
        judgeRivals(on: id, now)
    }

    /// Returns whether the server has sent something that makes a client close the connection. Frames that the client
    /// sends before it has read it are not judged.
    mutating func judgeStrange(_ id: Int, _ now: UInt64) -> Bool {
        guard let (requirement, since) = talks[id]?.strange else { return false }
        let time = now - min(now, since.at)
        if since.isRead || time > 9_000 { find(requirement, "the connection is open \(time) ms later", on: id) }
        return true
    }

    /// A client is silent for too long if it is so each time.
    ///
    /// - Parameter isTimeout: whether the server says so.
    mutating func judgeSilence(_ id: Int, _ now: UInt64, endsWithPing: Bool = false, isTimeout: Bool = false) {
        guard let talk = talks[id], let deadline = talk.idleDeadline, !talk.isClosing, let client = talk.client else {
            return
        }
        let silence = now - min(now, talk.lastHeard)
        let isBusy = talk.follows.values.contains { $0.open != nil }
        guard var pings = isBusy ? clients[client]?.busyPings : clients[client]?.idlePings else { return }
        defer { talks[id]?.endsWithPing = endsWithPing }
        if endsWithPing {
            pings.note(silence, followsPing: talk.endsWithPing)
            exercise(.neverSilent)
            exercise(.pingsInTime)
        }
        if silence > deadline || isTimeout && silence > deadline * 2 / 3 { pings.lapses += 1 }
        if isBusy { clients[client]?.busyPings = pings } else { clients[client]?.idlePings = pings }
        if pings.lapses > 1, pings.shortest > deadline {
            find(.neverSilent, "the client sent nothing for \(silence) ms, and not for the first time", on: id)
        }
        // A third is asked for. What is much more each time is no delay on the way.
        if pings.gaps.count > 2, pings.areLate(deadline * 3 / 5) {
            find(.pingsInTime, "no ping comes sooner than \(pings.gaps.min() ?? 0) ms after the last", on: id)
        }
    }

    /// Whoever was on an item says so on each connection.
    mutating func judgePresence(_ id: Int) {
        guard let talk = talks[id], let client = talk.client else { return }
        for (list, follow) in talk.follows where follow.asked.wantsPeople && follow.since.isRead {
            guard clients[client]?.isOnItem.contains(list) == true else { continue }
            exercise(.presenceAgain)
            if !talk.hasPresence.contains(list) {
                find(.presenceAgain, "the person was on an item before this connection", on: id)
            }
        }
    }

    mutating func learn(_ code: ErrorCode, list: ListNumber, retryAfter: UInt64, on id: Int, _ now: UInt64) {
        guard let talk = talks[id] else { return }
        if code == .notSubscribed {
            talks[id]?.follows[list] = nil
        } else if code == .listDeleted || code == .notAllowed {
            talks[id]?.gone.formUnion(talk.follows.keys)
        } else if code.closes {
            judgeSilence(id, now, isTimeout: code == .idleTimeout)
            judgePresence(id)
            if code.fault == .client, code != .tooFast, verdict.findings.isEmpty {
                find(.sameAsMachine, "the server closes the connection with '\(code)'", on: id)
            }
            learnEnd(code, retryAfter: retryAfter, on: id, now)
            talks[id]?.isClosing = true
        }
    }
}

extension UpMessage {
    fileprivate var isPing: Bool { if case .ping = self { true } else { false } }
}
