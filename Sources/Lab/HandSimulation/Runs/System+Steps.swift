import HandCore
import HandSync
import HandWire

extension System {
    func take(_ step: Step) {
        if hasEffect(step) { reach.note(step.kind) }
    }

    /// Takes a step. Returns whether it does anything: most steps need a client that runs, or a connection.
    private func hasEffect(_ step: Step) -> Bool {
        var random = SplitMix64(seed: step.dice)
        // A client and its copies alternate at random.
        let same = clients.filter { $0.person == step.client }
        let client = same[random.next(below: same.count)]
        let (first, rules) = schedule.list(step.list)
        let names = [first, first + "-2"]
        // The list under the name by which this client follows it.
        let isReversed = random.next() & 1 == 0
        let name =
            (isReversed ? names.reversed() : names).first { client.machine?.subscriptions[$0] != nil } ?? first
        let isFollowed = client.machine?.subscriptions[name] != nil
        switch step.kind {
        case .insert, .delete, .move, .change, .block, .exact: return edit(step.kind, client, name, &random)
        case .undo, .redo: return stepBack(client, name, isRedo: step.kind == .redo)
        case .look:
            let item = client.machine?.subscriptions[name]?.replica.view.first
            let way = random.next(below: 5)
            client.perform { $0.setPresence(name, way == 0 ? .away : item.map { Focus($0.id, isEditing: way < 3) }) }
            return isFollowed
        case .ask: return ask(client, name, &random)
        case .open:
            client.open(name)
            return client.isUp && !isFollowed
        case .close:
            client.close(name)
            return isFollowed
        case .createList: return request(client) { .create(request: $0, name: name, rules: rules) }
        case .deleteList: return request(client) { .delete(request: $0, name: name) }
        case .renameList: return request(client) { .rename(request: $0, name: names[0], newName: names[1]) }
        case .renameBack: return request(client) { .rename(request: $0, name: names[1], newName: names[0]) }
        case .undeleteList:
            let newName = names[random.next(below: 2)]
            return request(client) { .undelete(request: $0, name: name, deletion: nil, newName: newName) }
        case .copyClient: return copy(client, name, &random)
        case .stranger: return stranger(&random)
        case .cut, .storm, .vanish, .stall, .killClient, .tearClient, .garble, .moveClient:
            return harm(client, step.kind, &random)
        case .killServer, .stopServer, .fullDisk, .failFlush, .slowDisk, .jumpClock, .cutOffServer, .failOver:
            return harmServer(step.kind, &random)
        }
    }

    /// Breaks a client's connection or process. Returns false if there is none.
    private func harm(_ client: SimulatedClient, _ kind: FaultSchedule.Kind, _ random: inout SplitMix64) -> Bool {
        let (hasLink, isUp) = (client.link != nil, client.isUp)
        switch kind {
        case .cut: client.link?.cut()
        case .storm: for client in clients { client.link?.cut() }
        case .vanish: client.link?.vanish()
        case .stall:
            // Some stalls outlast the timeout of both sides, so that old messages arrive after newer ones.
            let longest = random.next(below: 4) == 0 ? 40_000 : 5_000
            let until = scheduler.now + UInt64(random.next(below: longest))
            if random.next() & 1 == 0 { client.link?.down.stalledUntil = until }
            if random.next() & 1 == 0 { client.link?.up.stalledUntil = until }
        case .killClient: client.die()
        case .tearClient: client.diesAtNextWrite = true
        case .garble:
            client.link?.serverEnd.garbles = true
            hasGarbled = true
        default: move(client, delay: UInt64(random.next(below: 10_000)))
        }
        return kind == .killClient || kind == .tearClient ? isUp : hasLink
    }

    /// Moves a client to another server. Its earlier messages arrive after a delay, and later than the messages that it
    /// sends to the new server.
    func move(_ client: SimulatedClient, delay: UInt64) {
        client.link?.up.stalledUntil = scheduler.now + delay
        client.link?.giveUp()
    }

    /// Causes a fault of a server, its disk or the store. Returns false if the server does not run.
    private func harmServer(_ kind: FaultSchedule.Kind, _ random: inout SplitMix64) -> Bool {
        if kind == .failOver { return failOver(&random) }
        if kind == .fullDisk { return trouble(&random, { $0.isDiskFull = true }, { $0.isDiskFull = false }) }
        if kind == .failFlush { return trouble(&random, { $0.disk.failsFlush = true }, { $0.disk.failsFlush = false }) }
        let delay = kind == .slowDisk ? UInt64(random.next(below: 2_000)) : 0
        let server = server(&random)
        let isUp = server.isUp
        switch kind {
        case .killServer: server.crash()
        case .stopServer: server.stop()
        case .slowDisk: trouble(&random, { _ in server.diskDelay = delay }, { _ in server.diskDelay = 0 })
        case .jumpClock: server.clockOffset = random.next() % 1_000_000
        default: trouble(&random, { _ in server.isCutOff = true }, { _ in server.isCutOff = false })
        }
        return isUp
    }

    private func server(_ random: inout SplitMix64) -> SimulatedServer {
        isShared ? servers[random.next(below: servers.count)] : servers[0]
    }

    /// Causes a fault that lasts for a while.
    @discardableResult
    private func trouble(
        _ random: inout SplitMix64, _ begin: (System) -> Void, _ end: @escaping (System) -> Void
    ) -> Bool {
        begin(self)
        scheduler.after(UInt64(random.next(below: 3_000))) { [unowned self] in end(self) }
        return true
    }

    /// Copies a client's files as they are now. Some time later, the copy starts alongside the client, and both make an
    /// edit. The client's edit may not get through.
    private func copy(_ client: SimulatedClient, _ name: String, _ random: inout SplitMix64) -> Bool {
        // Some servers have no room for more clients.
        guard clients.count < Self.maxClients else { return false }
        let copy = SimulatedClient(self, number: clients.count, copying: client)
        trace("client \(client.number) is copied as client \(copy.number)")
        clients.append(copy)
        promises.submitsAgain(copy.kept())
        var (first, second) = (SplitMix64(seed: random.next()), SplitMix64(seed: random.next()))
        scheduler.after(UInt64(random.next(below: 20_000))) { [unowned self] in
            edit(.insert, client, name, &first)
            client.link?.cut()
            copy.start()
            edit(.insert, copy, name, &second)
        }
        return true
    }

    // MARK: People

    /// Makes an edit. If the client does not have the list, opens the list and returns false.
    @discardableResult
    func edit(
        _ kind: FaultSchedule.Kind, _ client: SimulatedClient, _ name: String, _ random: inout SplitMix64
    ) -> Bool {
        guard let replica = client.machine?.subscriptions[name]?.replica else {
            client.open(name)
            return false
        }
        guard client.machine?.subscriptions[name]?.isLoaded == true else { return false }
        var person = SimulatedPerson(random: random)
        let delta = person.delta(kind, on: replica.view)
        return make(client, name) { machine in
            try machine.edit(name, delta, isExact: kind == .exact)
        }
    }

    private func stepBack(_ client: SimulatedClient, _ name: String, isRedo: Bool) -> Bool {
        make(client, name, isUndo: !isRedo) { machine in
            _ = try machine.take(isRedo ? .redo : .undo, name)
        }
    }

    /// Records what the author of an edit means by it, and then makes the edit. Returns whether the edit changes
    /// anything.
    private func make(
        _ client: SimulatedClient, _ name: String, isUndo: Bool = false,
        _ body: @escaping (inout ClientMachine) throws -> Void
    ) -> Bool {
        guard var trial = client.machine, let before = trial.subscriptions[name]?.replica.view else { return false }
        do { try body(&trial) } catch {
            if case .misfit(let misfit)? = error as? Replica.EditError {
                report(.view, "client \(client.number) cannot edit \(name): \(misfit)")
            }
            return false
        }
        guard let replica = trial.subscriptions[name]?.replica else { return false }
        let after = replica.view
        func things(_ list: Hand) -> Set<Thing> { list.reduce(into: []) { $0.formUnion($1.things) } }
        let (old, new) = (things(before), things(after))
        if isUndo { client.checkUndo(of: name, before, after) }
        let edit = Delta(from: before, to: after)
        trace("client \(client.number) makes \(edit.summary)")
        // If the undone edit was never committed, its item may reappear next to itself.
        promises.submitsAgain(edit.put)
        promises.edit(
            client: client.number, list: replica.logID, inserted: new.subtracting(old), deleted: old.subtracting(new))
        client.perform { machine in try? body(&machine) }
        return before != after
    }

    /// Sends a request. Returns false without a connection.
    private func request(_ client: SimulatedClient, _ message: (RequestNumber) -> UpMessage) -> Bool {
        var request: RequestNumber?
        client.perform { request = $0.ask(message) }
        return request != nil
    }

    private func ask(_ client: SimulatedClient, _ name: String, _ random: inout SplitMix64) -> Bool {
        let revision = random.next(below: 40)
        return switch random.next(below: 4) {
        case 0: request(client) { .lists(request: $0, after: "") }
        case 1: request(client) { .history(request: $0, name: name, from: revision, limit: 10) }
        case 2: request(client) { .fetch(request: $0, name: name, revision: revision) }
        default: request(client) { .fetch(request: $0, name: name, revision: nil) }
        }
    }

    /// Connects somebody who does not speak the protocol, or who stops in the middle of a message.
    private func stranger(_ random: inout SplitMix64) -> Bool {
        guard let link = connect("stranger", to: server(&random)) else { return false }
        var bytes: [UInt8] = []
        if random.next() & 1 == 0 {
            let hello = UpMessage.Hello(
                client: .random(using: &random), person: "stranger", program: "none")
            bytes = UpMessage.hello(hello).frame
        }
        for _ in 0..<random.next(below: 60) { bytes.append(UInt8(truncatingIfNeeded: random.next())) }
        bytes.withUnsafeBytes { link.up.write($0) }
        scheduler.after(UInt64(random.next(below: 2_000))) { link.closeByClient() }
        return true
    }
}
