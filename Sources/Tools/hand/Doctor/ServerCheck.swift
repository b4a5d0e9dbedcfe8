import FoundationEssentials
import HandClient
import HandCore
import HandFormats
import HandWire

/// Whether the server can be reached, what it is, and what the user may do there.
struct ServerCheck {
    private let options: ServerOptions

    init(_ options: ServerOptions) { self.options = options }

    func all() async -> (diagnoses: [Diagnosis], isReached: Bool) {
        do {
            let address = try options.address()
            let ways = try Reachability.check(address.server, timeout: min(options.timeout, 5))
            guard ways.contains(where: { $0.verdict == .ok }) else { return (ways, false) }
            let found = await talk()
            return (ways + found.diagnoses, found.isReached)
        } catch {
            return failed(error)
        }
    }

    private func failed(_ error: any Error) -> (diagnoses: [Diagnosis], isReached: Bool) {
        let failure = Failure(error)
        let isAnswer = if case ClientError.refused = error { true } else { false }
        let finding = (isAnswer ? "the server answers, but does not let you in: " : "") + failure.message
        let diagnosis = Diagnosis.problem("server", finding, do: ServerAdvice.about(failure))
        return ([diagnosis], failure.status != .unreachable)
    }

    private func talk() async -> (diagnoses: [Diagnosis], isReached: Bool) {
        do {
            let diagnoses = try await options.withClient(by: Identity.guest) { client, address in
                let greeting = try await client.greeting()
                let start = ContinuousClock.now
                let lists = try await client.lists()
                let time = (ContinuousClock.now - start) / .milliseconds(1)
                let server =
                    "\(greeting.welcome.program) answers in \(Amount.number((time * 10).rounded() / 10)) ms, "
                    + "protocol version \(greeting.welcome.version)"
                let name = Diagnosis.ok("name", "others see you as \(try await client.person())")
                return try await [.ok("server", server)] + certificate(greeting.certificateLifetime, address)
                    + [name, role(client.granted()?.everywhere), access(lists, address)] + clock(lists, address, client)
            }
            return (diagnoses, true)
        } catch {
            return failed(error)
        }
    }

    private func certificate(_ lifetime: Int?, _ address: HandAddress) -> [Diagnosis] {
        guard let lifetime else { return [] }
        let days = lifetime / 86_400
        let finding = "the server's certificate is trusted, and valid for \(Amount.count(days, "more day"))"
        if days >= 14 { return [.ok("certificate", finding)] }
        return [
            .warning(
                "certificate", finding, do: "renew it, then make the server read it: systemctl reload hand, or SIGHUP")
        ]
    }

    private func role(_ role: Role?) -> Diagnosis {
        let finding =
            switch role {
            case nil: "you have roles on single lists, too many to tell"
            case .some(.none):
                "none on all lists: your token is for single ones. See them: \(Suggestion.command("lists"))"
            case .read: "read on all lists: you may not edit them, unless you have a higher role on some"
            case .append: "append on all lists: you may add items"
            case .write: "write on all lists: you may edit them, and make lists"
            case .admin: "admin on all lists: you may edit, rename and delete them, and make lists"
            }
        return .ok("role", finding)
    }

    private func access(_ lists: [DownMessage.ListEntry], _ address: HandAddress) -> Diagnosis {
        if let name = address.list, !lists.contains(where: { $0.name == name }) {
            return .problem("lists", Lists.missing(name, among: lists.map(\.name)))
        }
        if lists.isEmpty {
            return .ok("lists", "there are none yet that you may read; make one: \(Suggestion.command("create NAME"))")
        }
        return .ok("lists", "you may read \(Amount.count(lists.count, "list"))")
    }

    /// Commits carry the server's time. A commit from the future shows that a clock is wrong.
    private func clock(
        _ lists: [DownMessage.ListEntry], _ address: HandAddress, _ client: HandClient
    ) async throws -> [Diagnosis] {
        let name = address.list ?? lists.max { $0.revision < $1.revision }?.name
        guard let entry = lists.first(where: { $0.name == name }), entry.revision > 0,
            let newest = try await client.history(of: entry.name, from: entry.revision).commits.last
        else { return [] }
        let ahead = Int64(newest.time) - Int64(Date.now.timeIntervalSince1970 * 1_000)
        if ahead < 2_000 { return [.ok("clock", "no commit is from the future")] }
        return [
            .warning(
                "clock",
                "the newest commit of '\(entry.name)' is \(ahead / 1_000) s in the future: this machine's clock is slow, "
                    + "or the server's is fast",
                do: "set the clocks, preferably by NTP: timedatectl set-ntp true")
        ]
    }
}
