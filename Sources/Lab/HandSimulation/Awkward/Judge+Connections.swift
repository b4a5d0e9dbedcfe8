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
        if judgeUnknown(id, now) { return }
        judgeSilence(id, now)
        talks[id]?.lastHeard = now
        guard talks[id]?.isClosing == false else { return }
        if case .hello(let hello) = message { return judge(hello, on: id) }
        guard let client = talks[id]?.client else {
            return find(.helloFirst, "the first frame is '\(message.name)'", on: id)
        }
        switch message {
        case .subscribe(let subscribe): ask(subscribe, on: id)
        case .unsubscribe(let list): talks[id]?.follows[list] = nil
        case .ping:
            clients[client]?.hasPinged = true
            exercise(.neverSilent)
            exercise(.pingsInTime)
        case .presence(let list, let focus):
            talks[id]?.hasPresence.insert(list)
            if focus == nil { clients[client]?.isOnItem.remove(list) } else { clients[client]?.isOnItem.insert(list) }
        case .submit(let submission): judge(submission, of: client, on: id)
        default: break
        }
    }

    private mutating func judge(_ hello: UpMessage.Hello, on id: Int) {
        exercise(.helloFirst)
        if talks[id]?.client != nil { find(.helloFirst, "there is a second hello", on: id) }
        talks[id]?.client = hello.client
        var client = clients[hello.client] ?? Client()
        if client.histories.values.contains(where: \.hasOpenEdits) { exercise(.clientIDKept) }
        defer { clients[hello.client] = client }
        guard let earliest = client.earliest, let began = talks[id]?.began else { return }
        exercise(.waits)
        client.earliest = nil
        // The clocks of the two programs are read at different moments.
        guard began + 20 < earliest else { return }
        find(.waits, "the client is back \(earliest - began) ms before 'retry after' has passed", on: id)
    }

    private mutating func ask(_ subscribe: UpMessage.Subscribe, on id: Int) {
        talks[id]?.asked[subscribe.request] = subscribe
        if subscribe.name.utf8.contains(where: { $0 >= 0xCC }) { exercise(.composedNames) }
        for (list, follow) in talks[id]?.follows ?? [:] where follow.asked.name == subscribe.name && !follow.isDamaged {
            talks[id]?.follows[list]?.isOver = true
            // Only a client that has diverged asks for a list of which it keeps only the lower half of the log id.
            guard subscribe.logID != 0, subscribe.logID >> 32 == 0 else { continue }
            find(.commitsDelta, "the client's list was no longer the server's, and all frames were right", on: id)
        }
    }

    /// Returns whether the server has sent bytes that nobody understands. Frames that the client sends before it has
    /// read them are not judged.
    mutating func judgeUnknown(_ id: Int, _ now: UInt64) -> Bool {
        guard let since = talks[id]?.strangeSince else { return false }
        if now > since + 500 { find(.closesOnUnknown, "the connection is open \(now - since) ms later", on: id) }
        return true
    }

    mutating func judgeSilence(_ id: Int, _ now: UInt64) {
        guard let talk = talks[id], let deadline = talk.idleDeadline, !talk.isClosing else { return }
        let silence = now - min(now, talk.lastHeard)
        if silence > deadline { find(.neverSilent, "the client sent nothing for \(silence) ms", on: id) }
        // A third is asked for. What is much more is no delay on the way.
        if silence > deadline * 3 / 5 { find(.pingsInTime, "the client sent nothing for \(silence) ms", on: id) }
    }

    /// Whoever was on an item says so on each connection.
    mutating func judgePresence(_ id: Int, _ now: UInt64) {
        guard let talk = talks[id], let client = talk.client else { return }
        for (list, follow) in talk.follows where follow.asked.wantsPeople && now > follow.began + 500 {
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
            let silence = now - min(now, talk.lastHeard)
            if code == .idleTimeout, let deadline = talk.idleDeadline, silence > deadline * 2 / 3 {
                find(.neverSilent, "the client sent nothing for \(silence) ms", on: id)
            }
            judgeSilence(id, now)
            judgePresence(id, now)
            if code.fault == .client, code != .tooFast, verdict.findings.isEmpty {
                find(.sameAsMachine, "the server closes the connection with '\(code)'", on: id)
            }
            talks[id]?.isClosing = true
            if let client = talk.client, retryAfter > 0 { clients[client]?.earliest = now + retryAfter }
        }
    }
}
