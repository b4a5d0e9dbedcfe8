import HandCore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// A server that is malicious or out of order. Whatever it sends, a client keeps a bounded amount, and does not ask
/// again and again: it says what is wrong, disconnects, and waits longer each time.
@Suite struct FaultyServerTests {
    /// A client of a faulty server.
    private struct Victim {
        var client = DrivenClient()
        var now: UInt64 = 0

        init(following lists: [String] = []) {
            client.connect()
            for (index, list) in lists.enumerated() {
                client.perform { $0.open(list) }
                client.begin(RequestNumber(index + 1), list: ListNumber(index) + 1, Self.hand, revision: 7)
            }
            client.said = []
        }

        static let hand = Hand((1...3).map { Item(id: ItemID(rawValue: $0), content: .note("\($0)")) })

        mutating func hear(_ message: DownMessage) { client.hear(message, now: now) }

        /// Asks for something. Returns the number of the request.
        mutating func ask(_ message: (RequestNumber) -> UpMessage) -> RequestNumber {
            client.perform { $0.ask(message) } ?? 0
        }

        var isConnected: Bool { client.machine.state == .ready }
        var violation: String? { client.machine.violation }

        /// The milliseconds that it waits before it connects again; nil if it does not wait.
        var wait: UInt64? {
            guard case .waiting(let until) = client.machine.state else { return nil }
            return until - now
        }

        /// Lets it connect again.
        mutating func comeBack() {
            now += wait ?? 0
            client.perform { $0.timer(now: now) }
            client.perform { $0.connected(now: now) }
            client.welcome(now: now)
        }
    }

    /// Bytes that nobody understands are a fault of one of the two programs: after a few connections, the client stops.
    @Test(arguments: [false, true]) func bytesThatNobodyUnderstandsEndInAStop(isRare: Bool) {
        var victim = Victim(following: ["list"])
        for count in 1...ClientMachine.maxMisreadings + 1 {
            #expect(victim.isConnected)
            let (bytes, now) = ([UInt8]([2, 99, 0]), victim.now)
            victim.client.perform { machine in bytes.withUnsafeBytes { machine.received($0, now: now) } }
            let isOver = count > ClientMachine.maxMisreadings && !isRare
            #expect((victim.wait == nil) == isOver && victim.violation != nil)
            #expect(victim.client.machine.refusal == (isOver ? .malformedMessage : nil))
            if !isOver { victim.comeBack() }
            if isRare { victim.now += 300_000 }
        }
        #expect(victim.isConnected == isRare)
    }

    private static func entry(_ name: String) -> DownMessage.ListEntry {
        .init(name: name, count: 0, revision: 0, rules: Rules())
    }

    private static func deleted(_ number: UInt64) -> DownMessage.DeletedEntry {
        .init(deletion: number, list: entry("l"), person: "p", time: 0, keptUntil: 1)
    }

    private static func commit(_ revision: Int, _ delta: Delta = .identity, digest: UInt64 = 0) -> Commit {
        Commit(
            revision: revision, author: 9, sequence: 1, base: revision - 1, time: 0, count: 3, digest: digest,
            delta: delta)
    }

    private static func excerpt(_ revision: Int, _ positions: [Int]) -> Excerpt {
        Excerpt(
            logID: 5, revision: revision, count: 100, rules: Rules(),
            entries: positions.map { .init(position: $0, item: Item(id: ItemID(rawValue: 1), content: .note(""))) })
    }

    private struct Exchange {
        let ask: (RequestNumber) -> UpMessage
        let fits: (RequestNumber) -> [DownMessage]
        let not: (RequestNumber) -> [DownMessage]

        init(
            _ ask: @escaping (RequestNumber) -> UpMessage, _ fits: @escaping (RequestNumber) -> [DownMessage],
            not: @escaping (RequestNumber) -> [DownMessage]
        ) {
            (self.ask, self.fits, self.not) = (ask, fits, not)
        }
    }

    /// Requests, answers that fit them, and answers that do not.
    private static var table: [Exchange] {
        [
            Exchange(
                { .lists(request: $0, after: "m") },
                {
                    [
                        .lists(request: $0, [entry("n"), entry("o")], hasMore: true),
                        .lists(request: $0, [], hasMore: false),
                    ]
                },
                not: {
                    [
                        .lists(request: $0, [entry("m")], hasMore: true), .lists(request: $0, [], hasMore: true),
                        .lists(request: $0, [entry("a")], hasMore: false), .done(request: $0),
                    ]
                }
            ),
            Exchange(
                { .deletedLists(request: $0, before: 5) },
                { [.deletedLists(request: $0, [deleted(4), deleted(2)], hasMore: true)] },
                not: {
                    [
                        .deletedLists(request: $0, [deleted(5)], hasMore: true),
                        .deletedLists(request: $0, [deleted(4), deleted(4)], hasMore: false),
                        .deletedLists(request: $0, [], hasMore: true),
                    ]
                }
            ),
            Exchange(
                { .history(request: $0, name: "l", from: 4, limit: 3) },
                {
                    [
                        .history(request: $0, [commit(4), commit(5), commit(6)], people: []),
                        .history(request: $0, [commit(9)], people: []), .history(request: $0, [], people: []),
                    ]
                },
                not: {
                    [
                        .history(request: $0, [commit(3)], people: []),
                        .history(request: $0, [commit(5), commit(4)], people: []),
                        .history(request: $0, [commit(5), commit(7)], people: []),
                        .history(request: $0, (4...7).map { commit($0) }, people: []),
                    ]
                }
            ),
            Exchange(
                { .fetch(request: $0, name: "l", revision: 2) },
                { [.state(request: $0, revision: 2, count: 0, digest: Hand().digest, rules: Rules())] },
                not: {
                    [
                        .state(request: $0, revision: 3, count: 0, digest: Hand().digest, rules: Rules()),
                        .state(request: $0, revision: 2, count: 0, digest: 1, rules: Rules()),
                        .lists(request: $0, [], hasMore: false),
                    ]
                }
            ),
            Exchange(
                {
                    .excerpt(.init(request: $0, name: "l", revision: 2, from: 10, [.positions(start: 10, count: 2)]))
                },
                { [.excerpt(request: $0, excerpt(2, [10, 11])), .excerpt(request: $0, excerpt(2, []))] },
                not: {
                    [
                        .excerpt(request: $0, excerpt(3, [10])), .excerpt(request: $0, excerpt(2, [9])),
                        .excerpt(request: $0, excerpt(2, [10, 11, 12])),
                    ]
                }
            ),
            Exchange(
                { .create(request: $0, name: "l", rules: Rules()) }, { [.done(request: $0)] },
                not: { [.history(request: $0, [], people: [])] }
            ),
        ]
    }

    /// An answer that does not fit its request ends the request and the connection. So pages cannot repeat for ever.
    @Test func answersFitTheirRequests() {
        for row in Self.table {
            for index in row.fits(0).indices {
                var victim = Victim()
                let request = victim.ask(row.ask)
                victim.hear(row.fits(request)[index])
                #expect(victim.isConnected && victim.client.answers[request] != nil)
            }
            for index in row.not(0).indices {
                var victim = Victim()
                let request = victim.ask(row.ask)
                victim.hear(row.not(request)[index])
                guard case .error(.internalError, let text)? = victim.client.answers[request] else {
                    Issue.record("\(row.not(request)[index]) is taken for an answer")
                    continue
                }
                #expect(!text.contains("\n") && victim.wait != nil && victim.violation != nil)
            }
        }
    }

    /// A list that never agrees with the server's is loaded a few times, and then less and less often.
    @Test func aListThatDivergesAgainAndAgain() {
        var victim = Victim(following: ["l"])
        var (subscriptions, commits) = (0, 0)
        let start = victim.now
        while victim.now < start + 600_000 {
            for message in victim.client.said {
                guard case .subscribe(let subscribe) = message else { continue }
                subscriptions += 1
                victim.client.begin(subscribe.request, Victim.hand, revision: 7)
            }
            victim.client.said = []
            if victim.isConnected {
                commits += 1
                victim.hear(.commit(list: 1, Self.commit(8, digest: 1)))
            } else {
                victim.comeBack()
            }
        }
        // Without a bound, there would be a million.
        #expect(commits > 10 && subscriptions < 300, "\(subscriptions) in ten minutes")
    }

    /// Answers that make a client send the same again.
    @Test(arguments: ["not subscribed", "acknowledged", "renamed"]) func aServerThatNeverAgrees(how: String) {
        var victim = Victim(following: ["l"])
        victim.client.perform { try? $0.edit("l", .deleting(0..<1)) }
        var said = 0
        for round in 0..<10_000 where victim.isConnected {
            said += victim.client.said.count
            for case .subscribe(let subscribe) in victim.client.said {
                victim.client.enter(subscribe.request, .resumed(at: 7))
            }
            let last = victim.client.submissions.last?.sequence ?? 0
            victim.client.said = []
            switch how {
            case "not subscribed":
                victim.hear(.error(code: .notSubscribed, request: 0, list: 1, retryAfter: 0, message: ""))
            case "acknowledged": victim.hear(.acknowledged(list: 1, sequence: last, revision: 7))
            default: victim.hear(.renamed(list: 1, name: "l\(round)"))
            }
        }
        #expect(victim.wait != nil && said < 300)
        #expect(victim.violation?.contains("repeat itself") == true)
    }

    /// A base that is the newest revision is never too old.
    @Test func theNewestRevisionIsNotTooOld() {
        var victim = Victim(following: ["l"])
        victim.client.perform { try? $0.edit("l", .deleting(0..<1)) }
        let sequence = victim.client.submissions.last?.sequence ?? 0
        victim.hear(.stale(list: 1, sequence: sequence, head: 7))
        #expect(victim.wait != nil && victim.violation?.contains("too old") == true)
    }

    /// A loss of the connection right after a violation, or right after a welcome, does not begin the waits anew.
    @Test func waitsGrowAlthoughTheServerSaysWelcome() {
        for violates in [false, true] {
            var victim = Victim()
            var waits: [UInt64] = []
            for _ in 0..<12 {
                if violates {
                    victim.now += 2_000
                    victim.hear(
                        .welcome(
                            .init(
                                version: ProtocolVersion.highest, author: 1, idleDeadline: 1,
                                frameBytes: 1, program: "")))
                    let request = victim.ask { .lists(request: $0, after: "") }
                    victim.hear(.done(request: request))
                } else {
                    let now = victim.now
                    victim.client.perform { $0.disconnected(reason: "lost", now: now) }
                }
                waits.append(victim.wait ?? 0)
                victim.comeBack()
            }
            #expect(waits.max() ?? 0 > 2_000, "\(waits)")
            // After a connection that lasted, all is forgotten.
            victim.now += 120_000
            let now = victim.now
            victim.client.perform { $0.disconnected(reason: "lost", now: now) }
            #expect(victim.wait ?? 0 <= 150)
        }
    }

    /// An acknowledgement without a revision says that a later edit was decided, not that this one was committed.
    @Test func anAcknowledgementWithoutARevisionIsNoCommit() {
        var victim = Victim()
        let excerpt = Excerpt(logID: 5, revision: 7, count: 3, rules: Rules())
        let request = victim.client.perform { $0.enter("l") } ?? 0
        victim.client.enter(request, list: 2, .newest(7))
        let list = PartialList(excerpt)
        _ = victim.client.perform { $0.submit(.deleting(0..<1), on: list, isExact: false, request) }
        let sequence = victim.client.submissions.last?.sequence ?? 0
        victim.hear(.acknowledged(list: 2, sequence: sequence, revision: 0))
        guard case .error(_, let text)? = victim.client.answers[request] else {
            Issue.record("\(String(describing: victim.client.answers[request]))")
            return
        }
        #expect(text.contains("look at the list"))
    }

    /// People who are invented, few at a time or many, and people who move without end.
    @Test(arguments: [1, 500]) func inventedPeople(people: Int) {
        for isMoving in [false, true] {
            var victim = Victim(following: ["l"])
            var sent = 0
            while victim.isConnected, sent < 10_000_000 {
                let page = (0..<people).map { number in
                    DownMessage.Presence(
                        author: AuthorID(isMoving ? number : sent + number), place: .here(person: "p", nil))
                }
                victim.now += isMoving ? 0 : UInt64(people)
                victim.hear(.presence(list: 1, page))
                sent += people
            }
            #expect(victim.wait != nil && sent <= 200_000 + 2 * people)
            #expect(victim.violation?.contains("more people") == true)
            victim.comeBack()
            #expect(victim.isConnected)
        }
    }

    /// A message is not kept beyond a limit, whatever the server calls its own.
    @Test func messagesHaveALimit() {
        func length(_ count: Int) -> [UInt8] {
            var (rest, bytes) = (count, [UInt8]())
            while rest >= 0x80 {
                bytes.append(UInt8(rest & 0x7F) | 0x80)
                rest >>= 7
            }
            return bytes + [UInt8(rest)]
        }
        func isRefused(_ count: Int, frameBytes: Int?) -> Bool {
            var client = DrivenClient()
            client.perform { $0.start() }
            client.perform { $0.connected(now: 0) }
            if let frameBytes {
                client.hear(
                    .welcome(
                        .init(
                            version: ProtocolVersion.highest, author: 1, idleDeadline: 45_000,
                            frameBytes: frameBytes, program: "")))
            }
            client.perform { machine in length(count).withUnsafeBytes { machine.received($0, now: 0) } }
            return client.machine.violation != nil
        }
        #expect(!isRefused(64 << 10, frameBytes: nil) && isRefused(64 << 10 + 1, frameBytes: nil))
        #expect(!isRefused(16 << 20, frameBytes: 1 << 10) && isRefused(17 << 20, frameBytes: 1 << 10))
        #expect(!isRefused(100 << 20, frameBytes: 100 << 20))
        #expect(isRefused(300 << 20, frameBytes: Int(Int32.max)))
    }
}
