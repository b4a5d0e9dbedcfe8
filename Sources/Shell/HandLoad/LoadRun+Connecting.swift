import EventLoop
import HandClient
import HandFormats

// From the address to connected clients.

extension LoadRun {
    func findServer() {
        switch plan.server {
        case .unix(let path): prepare([.init(.unix(path: path), layer: layer("http://localhost"))])
        case .tcp(let hosts): resolve(hosts[...]) { [unowned self] in .init($1, layer: layer("http://\($0)")) }
        case .tls(let hosts):
            do {
                let context = try TLSContext.client(trust: plan.trust, certificate: plan.certificate)
                resolve(hosts[...]) { [unowned self] in
                    .init($1, tls: ($0.name, { context }), layer: layer("https://\($0)"))
                }
            } catch {
                fail("\(error)")
            }
        }
    }

    private func layer(_ origin: String) -> ((Loop, any Channel) -> any Channel)? {
        plan.isWeb ? { WebSocketClient($1, origin: origin) } : nil
    }

    /// Looks up the hosts, once for all clients. If one of several hosts is not found, clients look it up again later.
    private func resolve(
        _ hosts: ArraySlice<HandAddress.Host>, _ found: [ServerConnection.Destination] = [],
        _ destination: @escaping (HandAddress.Host, ServerConnection.Destination.Place) -> ServerConnection.Destination
    ) {
        guard let host = hosts.first else { return prepare(found) }
        DNS.resolve(loop, host: host.name, port: host.port) { [unowned self] result in
            let place: ServerConnection.Destination.Place
            switch result {
            case .success(let addresses): place = .addresses(addresses)
            case .failure(let error) where plan.server.hosts.count == 1: return fail("\(host.name): \(error)")
            case .failure: place = .host(host.name, port: host.port)
            }
            resolve(hosts.dropFirst(), found + [destination(host, place)], destination)
        }
    }

    private func prepare(_ destinations: [ServerConnection.Destination]) {
        let seeder = ListSeeder(
            loop, plan, destinations, seed: .random(in: 0...UInt64.max),
            failed: { [unowned self] in fail($0) })
        self.seeder = seeder
        seeder.start { [unowned self] in
            guard plan.makesLists else { return connect(destinations) }
            progress(.filling)
            seeder.make(plan.script.names[...], plan.script) { [unowned self] in
                if onlyMakesLists { end() } else { connect(destinations) }
            }
        }
    }

    private func connect(_ destinations: [ServerConnection.Destination]) {
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
                connect(player, destinations)
            } else {
                later(delay) { [unowned self] in connect(player, destinations) }
            }
        }
    }

    private func connect(_ player: Player, _ destinations: [ServerConnection.Destination]) {
        // Not the seed of the plan: if a test is repeated on the same list, its clients and their items must be new.
        let seed = UInt64.random(in: 0...UInt64.max)
        let servers = ServerOrder(plan, destinations, of: player)
        switch plan.kind {
        case .full: player.connect(FullClient(player, loop, plan, to: servers, meter, seed: seed))
        case .light: player.connect(LightClient(player, loop, plan, to: servers, meter, seed: seed))
        }
    }
}

/// The servers in the order in which one client tries them.
struct ServerOrder {
    let destinations: [ServerConnection.Destination]
    /// The servers' names in messages.
    let names: [String]
    /// The list that decides which server the client tries first; nil for the first one.
    let list: String?

    init(_ plan: LoadPlan, _ destinations: [ServerConnection.Destination], of player: Player) {
        // Consecutive clients have different lists, if there are several.
        let lists = plan.script.names.count
        let place = player.number % lists + player.number / lists
        let first = plan.spreads ? place % destinations.count : 0
        func turned<Element>(_ all: [Element]) -> [Element] { Array(all[first...] + all[..<first]) }
        self.destinations = turned(destinations)
        names = turned(plan.server.places)
        list = plan.spreads ? nil : player.list
    }
}
