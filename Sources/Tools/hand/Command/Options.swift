import ArgumentParser
import EventLoop
import HandClient
import HandFormats
import HandSync
import HandWire

/// The options for the server and the user's name there.
struct UserOptions: ParsableArguments {
    @Option(
        help: .init(
            "The server, and optionally the list (default: see 'hand context --help').",
            valueName: "address")
    )
    var url: String?
    @OptionGroup var context: ContextOption

    @Option(
        name: .customLong("as"),
        help: .init("The name that others see (default: $HAND_NAME, then $USER).", valueName: "name"))
    var person: String?

    func name() throws -> String { try Settings.person(flag: person) }
}

/// The options of every command that talks to a server.
struct ServerOptions: ParsableArguments {
    @OptionGroup var user: UserOptions
    @Option(
        name: .customLong("timeout"),
        help: .init("How long to wait for the server (default: 10).", valueName: "seconds"))
    var givenTimeout: Double?
    @OptionGroup var result: ResultOptions

    var json: Bool { result.json }
    var quiet: Bool { result.quiet }
    var timeout: Double { givenTimeout ?? 10 }

    func validate() throws {
        guard timeout >= 0, timeout <= 1e6 else {
            throw ValidationError("--timeout: expected 0 to 1000000 seconds, found \(Amount.number(timeout))")
        }
    }

    func say(_ text: Printable) { result.say(text) }

    /// Prints the result of a change, as JSON or in words.
    func tell(_ value: @autoclosure () -> JSONValue, _ words: @autoclosure () -> Printable) {
        result.tell(value(), words())
    }

    func address(_ list: String? = nil) throws -> HandAddress { try Settings.address(flag: user.url, list: list) }

    /// Connects, runs `body`, and always closes the client. Gives up after `--timeout`.
    ///
    /// - Parameters:
    ///   - orMake: whether to make the list would help, if it is missing.
    ///   - timeLimited: whether `--timeout` limits all of `body`. Otherwise `body` limits its own steps.
    ///   - telling: whether the person is told of earlier edits first.
    ///   - open: makes the client instead of `client(at:_:)`. With `open`, the person is not told of earlier edits.
    func withClient<Result: Sendable>(
        list: String? = nil, orMake: Bool = true, timeLimited: Bool = true, telling: Bool = true,
        by open: ((HandAddress, String) throws -> HandClient)? = nil,
        _ body: @escaping @Sendable (HandClient, HandAddress) async throws -> Result
    ) async throws -> Result {
        let (address, person) = (try address(list), try user.name())
        if open == nil, !Identity.knows(address.server) { try await meet(address, person) }
        let client = try open.map { try $0(address, person) } ?? client(at: address, person)
        do {
            if telling, open == nil {
                try await limited(client, address) {
                    _ = await Losses.settle(client, self)
                    if let list = address.list { try await Losses.tell(of: list, client, self) }
                }
            }
            let task: @Sendable () async throws -> Result = {
                do { return try await body(client, address) } catch ClientError.refused(let code, let message) {
                    if let name = address.list, code == .noSuchList || code == .listDeleted,
                        let failure = try await Lists.missing(name, client, orMake: orMake)
                    {
                        throw failure
                    }
                    throw ClientError.refused(code, message)
                }
            }
            let result = try await timeLimited ? limited(client, address, task) : task()
            await client.close()
            return result
        } catch {
            let isUnknown = await client.isOutcomeUnknown()
            let isKept = isUnknown ? await client.hasUnanswered() : false
            await client.close()
            if isUnknown { throw Self.unknown(error, isKept: isKept) }
            throw Self.explained(error, at: address.server)
        }
    }

    /// Makes a change of the server's lists, and then asks about it. Returns nil if nobody answers in time:
    /// the change is made all the same.
    func change<Answer: Sendable>(
        list: String? = nil, _ change: @escaping @Sendable (HandClient) async throws -> Void,
        thenAsk ask: @escaping @Sendable (HandClient) async throws -> Answer?
    ) async throws -> Answer? {
        Interruption.begin()
        return try await withClient(list: list, orMake: false, timeLimited: false) { client, address in
            try await limited(client, address) { try await change(client) }
            return (try? await inTime { try await ask(client) }) ?? nil
        }
    }

    /// A client whose id and edits this machine stores. If the machine cannot store them, says so, and returns a client
    /// of which nothing is stored.
    func client(at address: HandAddress, _ person: String) throws -> HandClient {
        do { return try Identity.client(at: address, person: person) } catch let error as StoreError {
            guard error.isOfDisk else { throw error }
            say(
                "warning: \(Failure(error).sentence) This machine keeps neither a copy of the list nor, for 'hand undo', "
                    + "a record of an edit. Set $XDG_STATE_HOME to a folder that you may write")
            return try Identity.guest(at: address, person: person)
        }
    }

    /// Reaches a server that this machine does not know, so that nothing is stored about a server that does not exist.
    private func meet(_ address: HandAddress, _ person: String) async throws {
        let stranger = try Identity.guest(at: address, person: person)
        do {
            try await limited(stranger, address) { try await stranger.connected() }
            await stranger.close()
        } catch {
            await stranger.close()
            throw Self.explained(error, at: address.server)
        }
    }

    /// The error of a command that has sent a change and not learned its outcome. An edit that the journal has is asked
    /// about by the next command; of other changes, nothing is kept.
    private static func unknown(_ error: any Error, isKept: Bool) -> Failure {
        // A command that knows its way on has said it.
        if let failure = error as? Failure { return Failure(.unknown, failure.message) }
        let advice =
            isKept
            ? "do not repeat it. The next command on the list makes sure that it is made once, and says so"
            : "look with 'hand lists' or 'hand ls', and repeat it if it was not made"
        return Failure(
            .unknown, "\(Failure(error).message). Whether the server has made the change is not known: \(advice)")
    }

    /// Returns the error, with advice if no server listens or the token was not sent.
    static func explained(_ error: any Error, at server: HandAddress.Server) -> any Error {
        if case ClientError.refused(.notAuthenticated, _) = error, let reason = Settings.withheld(from: server) {
            return Failure(.notAllowed, Failure(error).message + ". " + reason)
        }
        // An expired certificate, or another host's, is no better with the file of its authority.
        let isKnown = { (text: String) in ["expired", "not yet valid", "mismatch"].contains { text.contains($0) } }
        if case ClientError.unreachable(let text) = error, text.contains(TLSError.isNotTrusted), !isKnown(text) {
            return Failure(
                .unreachable, Failure(error).message + ". If you were given the file of its authority: HAND_CA=FILE")
        }
        let places = server.places.joined(separator: ", ")
        guard case ClientError.unreachable(let text) = error,
            // With several servers, the reason also names the server that was tried.
            let reason = [UVError.connectionRefused, .noSuchFile].map(\.description).first(where: {
                text == $0 || text == "\(places): \($0)"
            })
        else { return error }
        let option = server == HandAddress.local.server ? "" : " --listen \(ShellWord.quoted(server.places[0]))"
        let advice = server.isThisMachine ? ". Start one: hand serve\(option)" : ": \(reason)"
        return Failure(.unreachable, "no server answers at \(places)\(advice)")
    }

    /// Sends the edits of a list that wait on this machine, so that the next edit builds on them.
    func sendWaiting(of name: String, _ client: HandClient) async throws {
        guard let outcome = try await client.sendWaiting(of: name) else { return }
        tell(outcome)
        try await noteTold(of: name, client)
    }

    /// Notes that a person was told of their lost edits. With `--quiet` the person was not told; the next command does
    /// that.
    func noteTold(of name: String, _ client: HandClient) async throws {
        if !quiet || json { try await client.noteTold(of: name) }
    }

    /// Prints what happened to edits.
    func tell(_ outcome: Settlement, of list: String? = nil) {
        for notice in outcome.notices {
            if let text = Notices.text(notice) { say("\(list.map { "'\($0)': " } ?? "")\(text)") }
        }
        Losses.tell(outcome.notices.compactMap(Loss.init), outcome.people, self, of: list)
    }

    /// Returns the result of `body`, or throws after `--timeout`. After a timeout the caller closes the client, which
    /// ends everything that waits for the client.
    func limited<Result: Sendable>(
        _ client: HandClient, _ address: HandAddress, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        if let result = try await inTime(body) { return result }
        if Interruption.signal != nil { throw Interruption.Interrupted() }
        let refusal = try? await client.trouble()
        throw ClientError.unreachable(
            refusal ?? "\(address.server) did not answer within \(Amount.number(timeout)) s")
    }

    /// Returns the result of `body`; nil after `--timeout`, or a signal that a command has asked to note. In that case
    /// `body` keeps running, and its result is dropped.
    func inTime<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result? {
        let seconds = timeout
        let (outcomes, outcome) = AsyncThrowingStream<Result?, any Error>.makeStream()
        let alarm = Task {
            let end = ContinuousClock.now + .seconds(seconds)
            while ContinuousClock.now < end, Interruption.signal == nil {
                try await Task.sleep(until: min(end, ContinuousClock.now + .milliseconds(100)))
            }
            outcome.yield(nil)
        }
        defer { alarm.cancel() }
        Task {
            do { outcome.yield(try await body()) } catch { outcome.finish(throwing: error) }
        }
        for try await result in outcomes { return result }
        return nil
    }
}
