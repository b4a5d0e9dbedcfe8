import EventLoop
import HandClient
import HandCore
import HandFormats
import HandSync
import HandWire

/// A client that creates the lists before a test, and fetches them from the server after it.
final class ListSeeder: MachineShell {
    private let driver: MachineDriver
    private var random: SplitMix64
    private var answers: [RequestNumber: (ClientMachine.Answer) -> Void] = [:]
    private var whenOnline: (() -> Void)?
    private var whenSettled: (() -> Void)?
    private let failed: (LoadError) -> Void

    /// How many items one edit adds.
    private static let portion = 5_000

    /// - Parameter failed: called with the reason why the test cannot continue.
    init(
        _ loop: Loop, _ plan: LoadPlan, _ destinations: [ServerConnection.Destination], seed: UInt64,
        failed: @escaping (LoadError) -> Void
    ) {
        self.failed = failed
        random = SplitMix64(seed: seed)
        let id = ClientID.random(using: &random)
        let machine = ClientMachine(
            client: id, person: "load", program: "hand load", token: plan.token,
            seed: random.next(), servers: plan.server.places, list: plan.script.names.first)
        driver = MachineDriver(machine, on: loop, to: destinations)
        driver.shell = self
    }

    var isOnline: Bool { driver.machine.isReady }

    func start(_ then: @escaping () -> Void) {
        whenOnline = then
        driver.perform { $0.start() }
    }

    func close() {
        driver.perform { $0.stop(reason: "done") }
    }

    func tick(now: UInt64) {
        driver.tick(now: now)
    }

    // MARK: Lists

    /// Creates and fills the lists that do not exist yet, as the script says.
    func make(_ names: ArraySlice<String>, _ script: Script, then: @escaping () -> Void) {
        guard let name = names.first else { return then() }
        ask {
            .create(request: $0, name: name, rules: script.rules)
        } answer: { [unowned self] answer in
            let next = { [unowned self] in make(names.dropFirst(), script, then: then) }
            switch answer {
            case .done: fill(name, script, next)
            case .error(.listExists, _): check(name, next)
            case .error(let code, let text): fail("cannot create '\(name)': \(text)", code)
            default: fail("the connection was lost while '\(name)' was created")
            }
        }
    }

    /// Refuses a list with other people's items: the clients would change and delete them.
    private func check(_ name: String, _ then: @escaping () -> Void) {
        fetch(name) { [unowned self] result in
            do {
                let others = try result.get().0.count { !$0.id.isScripted }
                if others == 0 { return then() }
                failed(
                    LoadError(
                        description: "'\(name)' has \(Amount.count(others, "item")) that no load test made: clients "
                            + "would change and delete them. Choose another list with --list NAME, or use this one "
                            + "with --as-is",
                        reason: .conflict))
            } catch {
                fail("cannot read '\(name)': \(error)")
            }
        }
    }

    private func fail(_ text: String, _ code: ErrorCode? = nil) {
        let reason: LoadError.Reason =
            switch code {
            case .notAllowed, .notAuthenticated: .notAllowed
            case let code? where !code.mayRetry: .refused
            default: .unreachable
            }
        failed(LoadError(description: text, reason: reason))
    }

    /// Fetches the list as the server has it now.
    func fetch(_ name: String, _ then: @escaping (Result<(Hand, revision: Int), LoadError>) -> Void) {
        ask {
            .fetch(request: $0, name: name, revision: nil)
        } answer: { answer in
            switch answer {
            case .state(let hand, let revision): then(.success((hand, revision)))
            case .error(_, let text): then(.failure(LoadError(description: text)))
            default: then(.failure(LoadError(description: "the connection was lost")))
            }
        }
    }

    private func fill(_ name: String, _ script: Script, _ then: @escaping () -> Void) {
        guard script.items > 0 else { return then() }
        driver.perform { $0.open(name) }
        fill(name, from: 0, to: script.items) { [unowned self] in
            driver.perform { $0.close(name) }
            then()
        }
    }

    private func fill(_ name: String, from first: Int, to count: Int, _ then: @escaping () -> Void) {
        guard first < count else { return then() }
        let last = min(count, first + Self.portion)
        // About twenty bytes per text.
        let items = (first..<last).map { number in
            let text = "item \(number)"
            return Item(
                id: .scripted(using: &random),
                content: .task(text + String(repeating: "·", count: max(0, (20 - text.count) / 2)), done: false))
        }
        whenSettled = { [unowned self] in fill(name, from: last, to: count, then) }
        driver.perform { machine in
            do { try machine.edit(name, Delta.inserting(items, at: first, .after)) } catch {
                fail("'\(name)' cannot be filled: \(error)")
            }
        }
    }

    // MARK: Effects

    private func ask(_ message: (RequestNumber) -> UpMessage, answer: @escaping (ClientMachine.Answer) -> Void) {
        let request = driver.perform { $0.ask(message) }
        if let request { answers[request] = answer } else { answer(.disconnected(nil, mayBeDone: false)) }
    }

    func carriedOut() { driver.flush() }

    func carryOut(_ effect: ClientMachine.Effect) {
        switch effect {
        case .answer(let request, let answer): answers.removeValue(forKey: request)?(answer)
        case .status(.online): whenOnline.take()?()
        case .status(.offline(let reason, _)): if whenOnline != nil { fail(reason, driver.machine.refusal) }
        case .list(let list, .changed(_, let update)): note(update, of: list)
        case .list(let list, .refused(let code, let text)): fail("'\(list)': \(text)", code)
        case .connect, .send, .disconnect, .keep, .takeID, .status, .list, .latency, .warning: break
        }
    }

    private func note(_ update: Replica.Update, of list: String) {
        for notice in update.notices {
            switch notice {
            case .acknowledged: whenSettled.take()?()
            case .rejected(let reason, _, _): fail("'\(list)' cannot be filled: \(reason)")
            case .diverged, .superseded, .keptWords, .usedTwice, .restored: break
            }
        }
    }
}
