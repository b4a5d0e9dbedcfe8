import HandCore
import HandSimulation
import HandSync
import HandWire
import Testing

/// The world of a server in a test: the store answers when the test says so, and streams are arrays.
final class TestWorld {
    var now: UInt64 = 0
    var wallClock: UInt64 = 1_000
    var store: SimulatedStore
    var isShared: Bool { store.isShared }
    private let serverID: UInt64
    var time: Moment { Moment(now: now, wallClock: wallClock) }
    /// The questions that the store has not answered, in order.
    private var asked: [(SimulatedStore) -> () -> Void] = []
    /// The failure with which the store answers, if any.
    var failure: StoreError?
    /// The only kind of question that `failure` is the answer to; nil for all.
    var failingKind: String?
    /// The kinds of questions that must not run beside another write.
    private(set) var writes: Set<String> = []
    /// How often each kind of question was asked.
    var kinds: [String: Int] = [:]
    private(set) var ended: StoreError?
    lazy var machine = ServerMachine(
        limits: limits, program: "test", retention: retention, serverID: isShared ? serverID : nil, seed: 1, at: time)
    /// Set this before the machine is used.
    var retention = Retention.everything
    let limits: Limits

    init(limits: Limits = Limits(), store: SimulatedStore = SimulatedStore(), serverID: UInt64 = 0) {
        self.limits = limits
        self.serverID = serverID
        self.store = store
    }

    private func ask(_ request: StoreRequest) {
        questions += 1
        let kind = Self.kind(of: request)
        kinds[kind, default: 0] += 1
        if request.isWrite { writes.insert(kind) }
        asked.append { [unowned self] store in
            let failure = failingKind ?? kind == kind ? failure : nil
            let reply = failure.map { request.run(on: BrokenStore($0)) } ?? request.run(on: store)
            count(reply)
            return { [unowned self] in machine.finished(reply, at: time) }
        }
    }

    /// Returns the name of a request's question.
    private static func kind(of request: StoreRequest) -> String {
        switch request {
        case .append: return "append"
        case .read(let task), .job(let task):
            let name = "\(type(of: task.question))"
            return name.prefix(1).lowercased() + name.dropFirst()
        }
    }

    private func compute(_ computation: Computation) {
        computations += 1
        asked.append { [unowned self] _ in
            let result = computation.run()
            return { [unowned self] in machine.finished(result, at: time) }
        }
    }

    /// What has been done so far.
    var done = Done()

    /// The hints sent to other servers, except those that the store sends itself.
    private(set) var hints: [StoreHint] = []

    /// The number of computations off the loop.
    private(set) var computations = 0

    /// The number of clients recorded as turned away.
    private(set) var turnedAway = 0

    /// The names of the admitted clients, as others see them.
    private(set) var letIn: [String] = []

    /// The names of the deleted lists that were reported as removed.
    private(set) var removed: [String] = []

    private func take(_ note: ServerNote) {
        switch note {
        case .turnedAway: turnedAway += 1
        case .letIn(let connection): letIn.append(connection.person)
        case .removed(let list): removed.append(list)
        default: break
        }
    }

    /// The access of each token. Without any tokens, everybody may do everything.
    var tokens: [String: Access]?

    private func access(of id: String?) -> Access? {
        guard let tokens else { return .everything }
        guard let id, var access = tokens[id] else { return nil }
        access.tokenID = id
        return access
    }

    private var names: [UInt32: String] = [:]

    /// Roles stay with their list when it is renamed.
    private func called(_ logID: UInt64, _ name: String?) {
        let list = LogID.list(logID)
        let old = names[list]
        names[list] = name
        tokens = tokens?.mapValues { access in
            var access = access
            let role = access.deleted.removeValue(forKey: list) ?? old.flatMap { access.lists.removeValue(forKey: $0) }
            if let role, let name { access.lists[name] = role } else { access.deleted[list] = role }
            return access
        }
    }

    /// Lets the machine know that `tokens` have changed.
    func accessChanged() {
        machine.accessChanged(at: time) { id, _ in access(of: id) }
    }

    /// Lets the deadline pass, and what is due be done.
    func timeout() { machine.timeout(at: time) }

    /// Returns whether any effect was answered at once.
    @discardableResult
    private func carryOut() -> Bool {
        var isAnswered = false
        while let effect = machine.nextEffect() {
            switch effect {
            case .ask(let request): ask(request)
            case .compute(let computation): compute(computation)
            case .identify(let hello, let connection):
                let grant = access(of: hello.token).map { Grant(access: $0, user: hello.token) }
                machine.identified(connection, saying: hello, as: grant, at: time)
                isAnswered = true
            case .called(let logID, let name):
                called(logID, name)
                accessChanged()
                isAnswered = true
            case .tell(let hint): hints.append(hint)
            case .note(let note): take(note)
            case .end(let error): ended = error
            }
        }
        return isAnswered
    }

    var waiting: Int { asked.count }
    /// The number of questions to the store.
    private(set) var questions = 0

    /// Makes the store answer one of the waiting questions.
    func answer(_ index: Int = 0) {
        asked.remove(at: index)(store)()
        turn()
    }

    /// Makes the store determine the answer to one of the waiting questions. The answer arrives when the result is
    /// called.
    func look(_ index: Int) -> () -> Void {
        let answer = asked.remove(at: index)(store)
        return { [unowned self] in
            answer()
            turn()
        }
    }

    func turn() {
        carryOut()
        // As a server does: nothing may be left to a turn that is not due.
        var hasMore = machine.isTurnDue
        while hasMore {
            hasMore = machine.endTurn(at: time)
            if carryOut() { hasMore = true }
            if hasMore { onTurn() }
        }
    }

    /// Called after each turn that is followed by another one at once.
    var onTurn: () -> Void = {}

    /// Makes the store answer everything.
    func settle() {
        turn()
        while !asked.isEmpty { answer() }
    }

    /// Returns a connection that has sent a hello. The store has not answered yet.
    func connect(
        _ client: UInt64, person: String? = nil, token: String? = nil, from origin: String? = nil
    ) -> TestStream {
        let stream = TestStream(self, from: origin)
        stream.say(
            .hello(
                UpMessage.Hello(
                    client: ClientID(high: 0, low: client), person: person ?? "p\(client)", program: "", token: token)))
        return stream
    }
}

extension TestWorld {
    /// Returns a store, and two servers on it.
    static func pair() -> (store: SimulatedStore, one: TestWorld, two: TestWorld) {
        let store = SimulatedStore(isShared: true)
        return (store, TestWorld(store: store, serverID: 1), TestWorld(store: store, serverID: 2))
    }

    /// Lets two servers read their store, and checks that they have the same list then.
    static func settle(_ one: TestWorld, _ two: TestWorld) throws {
        for world in [one, two, one, two, one, two, one, two] {
            world.pass(1_000)
            world.settle()
            #expect(world.machine.brokenInvariant() == nil)
        }
        let (first, second) = (one.machine.durable("list"), two.machine.durable("list"))
        #expect(first?.revision == second?.revision && first?.hand == second?.hand)
        #expect(try first?.hand == one.store.load(1).hand)
    }

    /// Returns a client that follows a list.
    func follower(
        _ number: UInt64, of list: String = "list", person: String? = nil, logID: UInt64 = 0, revision: Int = 0
    ) -> TestStream {
        let stream = connect(number, person: person)
        settle()
        stream.subscribe(list, request: 1, logID: logID, revision: revision)
        settle()
        return stream
    }
}

final class TestStream: ByteStream {
    private unowned let world: TestWorld
    private(set) var heard: [DownMessage] = []
    private(set) var isClosed = false
    private(set) var isShutDown = false
    /// Whether written bytes stay under way.
    var isWriting = false
    /// Whether the system accepts one write, and no more until it is drained.
    var stalls = false
    /// The number of bytes written.
    private(set) var bytes = 0
    private(set) var connection: Connection?
    let peerDescription = "test"
    let origin: String?

    /// Why the server has ended its side.
    private(set) var endReason: ErrorCode?

    /// - Parameter start: when the client connected, if that was earlier.
    init(_ world: TestWorld, from origin: String? = nil, since start: UInt64? = nil) {
        self.world = world
        self.origin = origin
        connection = world.machine.accepted(self, at: world.time, since: start)
    }

    func say(_ message: UpMessage) { send(message.frame) }

    /// - Parameter ending: whether the turn ends then.
    func send(_ bytes: [UInt8], ending: Bool = true) {
        guard let connection else { return }
        bytes.withUnsafeBytes { world.machine.received($0, from: connection, at: world.time) }
        if ending { world.turn() }
    }

    func write(_ runs: [FrameRun]) -> Bool {
        if stalls { isWriting = true }
        world.done.writes += 1
        for run in runs {
            world.done.bytes += run.bytes.count
            bytes += run.bytes.count
            var reader = FrameReader(limit: run.bytes.count)
            try? reader.read(run.bytes) { (body) throws(WireError) -> Bool in
                heard.append(try DownMessage(body))
                return true
            }
        }
        return !isWriting
    }

    /// Closes the connection from the client's side.
    func end() {
        if let connection { world.machine.ended(connection, reason: "test", at: world.time) }
        world.turn()
    }

    func drain() {
        isWriting = false
        if let connection { world.machine.drained(connection, at: world.time) }
        world.turn()
    }

    /// Whether the client's messages wait in the network.
    private(set) var isStopped = false
    func stopReading() { isStopped = true }
    func resumeReading() { isStopped = false }
    func shutdown(because code: ErrorCode) { (isShutDown, endReason) = (true, code) }
    func close() { isClosed = true }

    /// The people who are present on a list according to the last message about each since the last answer to a
    /// subscription.
    func present(on list: ListNumber = 1) -> Set<AuthorID> {
        var (people, request) = (Set<AuthorID>(), RequestNumber(0))
        for message in heard {
            switch message {
            case .subscribed(let subscribed) where subscribed.list == list && subscribed.request != request:
                (people, request) = ([], subscribed.request)
            case .presence(list, let entries):
                for entry in entries {
                    if entry.place == .gone { people.remove(entry.author) } else { people.insert(entry.author) }
                }
            default: break
            }
        }
        return people
    }

    var lastStart: DownMessage.Subscribed? {
        for case .subscribed(let subscribed) in heard.reversed() { return subscribed }
        return nil
    }

    var errors: [ErrorCode] {
        heard.compactMap { if case .error(let code, _, _, _, _) = $0 { code } else { nil } }
    }

    var commits: [Commit] {
        heard.compactMap { if case .commit(_, let commit) = $0 { commit } else { nil } }
    }

    func subscribe(
        _ name: String, request: RequestNumber, logID: UInt64 = 0, revision: Int = 0, wantsItems: Bool = true,
        wantsPeople: Bool = true
    ) {
        let subscribe = UpMessage.Subscribe(
            request: request, name: name, logID: logID, revision: revision, wantsItems: wantsItems,
            wantsPeople: wantsPeople)
        say(.subscribe(subscribe))
    }

    func submit(_ sequence: SequenceNumber, base: Int, _ text: String, list: ListNumber = 1) {
        let item = Item(id: ItemID(rawValue: sequence.rawValue &* 7_919 &+ UInt64(base)), content: .note(text))
        let delta = Delta.inserting([item], at: 0, .after)
        say(.submit(Submission(list: list, base: base, sequence: sequence, delta: delta)))
    }

    /// Inserts a note with the given id at the top.
    func insert(_ id: UInt64, _ sequence: SequenceNumber, base: Int = 0, isExact: Bool = false, list: ListNumber = 1) {
        let delta = Delta.inserting([Item(id: ItemID(rawValue: id), content: .note("\(id)"))], at: 0, .after)
        say(.submit(Submission(list: list, base: base, sequence: sequence, isExact: isExact, delta: delta)))
    }
}
