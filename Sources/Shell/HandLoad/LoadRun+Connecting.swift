import EventLoop
import HandClient
import HandScript
import TLS

// From the address to connected clients.

extension LoadRun {
    func findServer() {
        switch plan.server {
        case .unix(let path): prepare(.init(.unix(path: path)))
        case .tcp(let host, let port): resolve(host, port) { .init(.address($0)) }
        case .tls(let host, let port):
            do {
                let context = try TLSContext.client(trust: plan.trust, certificate: plan.certificate)
                resolve(host, port) { .init(.address($0), tls: (host, { context })) }
            } catch {
                fail("\(error)")
            }
        }
    }

    private func resolve(
        _ host: String, _ port: UInt16, _ destination: @escaping (SocketAddress) -> ServerConnection.Destination
    ) {
        DNS.resolve(loop, host: host, port: port) { [unowned self] result in
            switch result {
            case .success(let addresses): prepare(destination(addresses[0]))
            case .failure(let error): fail("\(host): \(error)")
            }
        }
    }

    private func prepare(_ destination: ServerConnection.Destination) {
        let seeder = ListSeeder(
            loop, destination, token: plan.token, seed: .random(in: 0...UInt64.max),
            failed: { [unowned self] in fail($0) })
        self.seeder = seeder
        seeder.start { [unowned self] in
            guard plan.makesLists else { return connect(destination) }
            progress(.filling)
            seeder.make(plan.script.names[...], plan.script) { [unowned self] in
                if onlyMakesLists { end() } else { connect(destination) }
            }
        }
    }

    private func connect(_ destination: ServerConnection.Destination) {
        phase = .connecting
        phaseStart = Loop.monotonicNanoseconds
        let parts = plan.script.parts(of: plan.clients)
        for number in plan.own {
            let player = Player(
                ScriptRun(parts[number], client: number, seed: plan.seed), number: number,
                list: plan.script.list(of: number), LoopAlarm(loop), meter,
                onReady: { [unowned self] in isReady($0) }, onFinished: { [unowned self] in finished += 1 })
            players.append(player)
            let delay = UInt64(plan.ramp * 1_000 * Double(number) / Double(plan.clients))
            if delay == 0 {
                connect(player, destination)
            } else {
                later(delay) { [unowned self] in connect(player, destination) }
            }
        }
    }

    private func connect(_ player: Player, _ destination: ServerConnection.Destination) {
        // Not the seed of the plan: if a test is repeated on the same list, its clients and their items must be new.
        let seed = UInt64.random(in: 0...UInt64.max)
        switch plan.kind {
        case .full: player.connect(FullClient(player, loop, to: destination, token: plan.token, meter, seed: seed))
        case .light: player.connect(LightClient(player, loop, to: destination, token: plan.token, meter, seed: seed))
        }
    }
}
