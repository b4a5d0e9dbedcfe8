import HandCore
import HandSync
import HandWire

// Carrying out what the machine wants: first the journal, then the network.

extension SimulatedClient {
    /// Gives the machine an event, then carries out its effects: first the journal, then the network.
    func perform(_ body: (inout ClientMachine) -> Void) {
        guard machine != nil else { return }
        body(&machine!)
        while let effect = machine?.nextEffect() { carryOut(effect) }
        endTurn()
        check()
        rearm()
    }

    private func carryOut(_ effect: ClientMachine.Effect) {
        switch effect {
        case .connect: connect()
        case .send(let bytes):
            system.sent(bytes, by: self)
            outgoing += bytes
        case .disconnect: disconnect()
        case .keep(let writes): keep(writes)
        case .takeID: takeID()
        case .list(let list, .renamed(let name)):
            system.trace("client \(number) hears that \(list) is called \(name)")
            system.reach.note(Reach.Client.isRenamed)
            followed[name] = followed.removeValue(forKey: list)
            ownWords[name] = ownWords.removeValue(forKey: list)
            others[name] = others.removeValue(forKey: list)
        case .list(let list, .changed(_, let update)): note(update, of: list)
        case .status(let status): changed(status)
        case .list(let list, .presence(let entries)): note(entries, in: list)
        case .list(let list, .refused(_, let text)):
            system.reach.note(Reach.Client.isRefused)
            refused(list, text)
        case .list(let list, .editsWait(let text)):
            system.reach.note(Reach.Client.editsWait)
            refused(list, text)
        case .answer(let request, let answer): onAnswer(request, answer)
        case .list, .latency, .warning: break
        }
    }

    private func endTurn() {
        guard !outgoing.isEmpty, let link else { return }
        outgoing.withUnsafeBytes { link.up.write($0) }
        outgoing = []
    }

    /// The disk takes time. The process continues in the meantime, or dies with only some of the writes on disk.
    private func keep(_ writes: [JournalWrite]) {
        let (mine, items) = (process, system.promises.unkept(by: number))
        afterDisk { [unowned self] in
            guard process == mine, machine != nil else { return }
            let count = diesAtNextWrite ? random.next(below: writes.count) : writes.count
            for write in writes.prefix(count) { journal.keep(write) }
            if diesAtNextWrite {
                system.reach.note(Reach.Client.diesAtWrite)
                return die()
            }
            system.promises.kept(items)
            perform { $0.kept(count, now: system.scheduler.now) }
            while let machine, let first = keptWaiters.first, first.mark <= machine.keptMark {
                keptWaiters.removeFirst().body()
            }
        }
    }

    /// Calls `body` when all earlier writes are on disk.
    func whenKept(_ body: @escaping () -> Void) {
        perform { $0.flush() }
        guard let machine else { return }
        if machine.keptMark == machine.journalMark { body() } else { keptWaiters.append((machine.journalMark, body)) }
    }

    private func takeID() {
        let mine = process
        afterDisk { [unowned self] in
            guard process == mine, machine != nil else { return }
            let fresh = ClientID.random(using: &random)
            let isTaken = journal.take(fresh)
            if isTaken {
                system.trace("client \(number) takes a new id")
                system.reach.note(Reach.Client.takesID)
            }
            perform { $0.took(isTaken ? fresh : nil, now: system.scheduler.now) }
        }
    }

    /// Calls `body` when the disk has done one thing more. It does one after the other.
    private func afterDisk(_ body: @escaping () -> Void) {
        let now = system.scheduler.now
        diskIsBusyUntil = max(diskIsBusyUntil, now + UInt64(random.next(below: 3) * random.next(below: 20)))
        system.scheduler.after(diskIsBusyUntil - now, body)
    }

    private func note(_ update: Replica.Update, of list: String) {
        switch update.cause {
        case .edit: if let replica = machine?.subscriptions[list]?.replica { edits[replica.logID, default: 0] += 1 }
        case .commit(let commit):
            system.received(commit, of: list, by: self)
            checkNotified(commit, update.notices, list)
        case .answer: if update != Replica.Update() { ownWords[list] = nil }
        }
        do { followed[list] = try followed[list]?.applying(update.delta) } catch {
            system.report(.view, "client \(number): a delta of the view of \(list) does not fit: \(error)")
        }
        for notice in update.notices { system.noticed(notice, of: list, by: self) }
    }

    private func note(_ entries: [DownMessage.Presence], in list: String) {
        for entry in entries { others[list, default: [:]][entry.author] = entry.place == .gone ? nil : entry }
    }

    func refused(_ list: String, _ text: String) {
        system.trace("client \(number) is refused \(list): \(text)")
        followed[list] = nil
        ownWords[list] = nil
        others[list] = nil
        whenKept { [unowned self] in
            guard machine?.subscriptions[list] == nil, let kept = try? journal.load(list) else { return }
            // Some clients keep pending edits in case the list comes back, and some discard them. At the end, all
            // discard them.
            if kept.hasPending, !system.isCalm, random.next() & 1 == 0 { return }
            system.promises.gaveUp(client: number, list: kept.logID, committed: system.ledger.inserted)
            journal.forget(list)
        }
    }

    private func changed(_ status: ClientMachine.Status) {
        if status == .online, let author = machine?.author {
            system.ledger.check(author: author, isOf: journal.client, named: name)
        }
        guard case .offline(let reason, let wait) = status else { return }
        others = [:]
        system.trace("client \(number) is offline: \(reason)")
        system.reach.note(Reach.Client.isOffline)
        guard wait == nil else { return }
        system.reach.note(Reach.Client.givesUp)
        // The client's person starts the client again some time later.
        let mine = process
        system.scheduler.after(1 + UInt64(random.next(below: 60_000))) { [self] in if process == mine { die() } }
    }
}
