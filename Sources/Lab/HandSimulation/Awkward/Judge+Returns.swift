import HandWire

/// The rules for clients that the server has sent away, and for programs that share an id.
extension Judge {
    mutating func learnUnknown(on id: Int, _ now: UInt64) {
        exercise(.closesOnUnknown)
        talks[id]?.strange = (.closesOnUnknown, Aftermath(now))
        guard let client = talks[id]?.client else { return }
        clients[client]?.unknown.note(now, within: 600_000)
        if clients[client]?.unknown.areEnough == true { exercise(.stopsOnUnknown) }
    }

    mutating func learnEnd(_ code: ErrorCode, retryAfter: UInt64, on id: Int, _ now: UInt64) {
        guard let name = talks[id]?.client, var client = clients[name] else { return }
        client.leave = (now, retryAfter, code == .tooManyConnections && retryAfter == 0)
        // With an edit in flight, a client needs its id.
        if code == .replaced, !client.hasOpenEdits { client.replaced.note(now, within: 30_000) }
        if client.replaced.areEnough { exercise(.leavesSharedID) }
        clients[name] = client
    }

    mutating func judgeReturn(of name: ClientID, on id: Int) {
        guard var client = clients[name], let began = talks[id]?.began else { return }
        if let leave = client.leave {
            client.leave = nil
            let elapsed = began - min(began, leave.at)
            if leave.wait > 0 {
                exercise(.waits)
                // The clock by which a client waits may be somewhat behind; all its waits are not that short.
                if elapsed < leave.wait / 2 { client.earlyReturns += 1 }
                if client.earlyReturns > 1 {
                    find(.waits, "the client is back after \(elapsed) ms instead of \(leave.wait)", on: id)
                }
            } else if leave.isRefusal {
                talks[id]?.wasRefused = true
                client.refusals.waits.append(elapsed)
                judge(&client.refusals, on: id)
            }
        }
        // One return may be a person's.
        client.unknown.noteReturn()
        if client.unknown.returns > 1 {
            find(.stopsOnUnknown, "the client is back again after bytes that it did not understand four times", on: id)
        }
        client.replaced.noteReturn()
        if client.replaced.returns > 1 {
            find(.leavesSharedID, "the client is back again with the id that was replaced four times", on: id)
        }
        clients[name] = client
    }

    private mutating func judge(_ refusals: inout Refusals, on id: Int) {
        guard refusals.left == 0 else { return }
        exercise(.growingWaits)
        if refusals.count == 1 {
            refusals.isSuspicious = refusals.chance < 0.05
        } else if refusals.chance < 1e-5 {
            let waits = refusals.waits.map { "\($0)" }.joined(separator: ", ")
            find(.growingWaits, "while it was refused, the client waited only \(waits) ms", on: id)
        }
    }

    /// Two programs have one id if both their connections are in use at once: the older sends something when the newer
    /// has been there for a while, and the newer does after that.
    mutating func judgeRivals(on id: Int, _ now: UInt64) {
        guard talks[id]?.isClosing == false else { return }
        talks[id]?.rival?.since.read(now)
        for (other, talk) in talks where talk.rival?.id == id && talk.rival?.since.hasSpoken == true {
            exercise(.ownID)
            find(.ownID, "another connection with the same client id is in use", on: other)
        }
    }
}

extension Judge.Client {
    var hasOpenEdits: Bool { histories.values.contains { $0.edits.values.contains { $0.fate == .open } } }
}
