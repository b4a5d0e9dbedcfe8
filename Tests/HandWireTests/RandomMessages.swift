import HandCore
import HandSimulation
import HandTestSupport
import HandWire

/// Messages of every kind with random contents, including edge cases.
struct RandomMessages {
    var chaos: Chaos

    init(seed: UInt64) {
        chaos = Chaos(seed: seed)
    }

    // MARK: Fields

    /// Returns a number whose varint has a random length, so that every length is about equally frequent.
    private mutating func number() -> UInt64 {
        let bits = UInt64(chaos.random.next(below: 54))
        return bits == 0 ? 0 : chaos.random.next() >> (64 - bits)
    }

    private mutating func number<Number: TypedNumber>() -> Number { Number(rawValue: number()) }

    private mutating func count(_ limit: Int = Int(Int32.max)) -> Int {
        Int(truncatingIfNeeded: number() & 0x7FFF_FFFF_FFFF_FFFF) % (limit + 1)
    }

    private mutating func submission() -> Submission {
        let base = revision()
        let lag = flag() ? 0 : count(base)
        return Submission(list: number(), base: base, sequence: number(), isExact: flag(), lag: lag, delta: delta())
    }

    private mutating func revision() -> Int { count((1 << 53) - 1) }
    private mutating func flag() -> Bool { chaos.random.next() & 1 == 0 }
    private mutating func id() -> ItemID { .random(using: &chaos.random) }

    private mutating func text() -> String {
        let samples = ["", "a", "groceries", "e\u{301}é", "🂡\u{0}\n", "κατάλογος"]
        return samples[chaos.random.next(below: samples.count)]
    }

    mutating func delta() -> Delta {
        if chaos.random.next(below: 4) == 0 { return .editing(at: count(9), textChanges()) }
        let list = NaiveList(chaos.items(chaos.random.next(below: 10)))
        return chaos.delta(on: list, size: 1 + chaos.random.next(below: 8))
    }

    /// Returns a change of several places of a text, and sometimes of an address.
    private mutating func textChanges() -> Change {
        var change = Change()
        repeat {
            change.text = chaos.splices(of: chaos.wideText())
            if flag() { change.url = chaos.splices(of: chaos.wideText()) }
        } while change.isEmpty
        return change
    }

    mutating func rules() -> Rules {
        var rules = Rules(maximumCount: count(), maximumSize: count(), hasDeck: flag())
        if flag() {
            let kinds = (0..<chaos.random.next(below: 6)).map { _ in Content.Kind(rawValue: UInt32(1 + count(999))) }
            rules.allowedKinds = Set(kinds)
        }
        return rules
    }

    mutating func commit() -> Commit {
        let revision = 1 + count((1 << 53) - 2)
        let refusal = flag() ? rejection() : nil
        return Commit(
            revision: revision, author: number(), sequence: number(),
            base: refusal == nil ? count(revision - 1) : revision - 1, time: number(), count: count(),
            digest: chaos.random.next(), delta: refusal == nil ? delta() : .identity, refusal: refusal)
    }

    mutating func rejection() -> Rejection {
        let reasons: [Rejection] = [
            .violation(.listFull(maximum: count())),
            .violation(.kindNotAllowed(Content.Kind(rawValue: UInt32(count())))),
            .violation(.itemTooLarge(size: count(), maximum: count())), .violation(.deckEmpty),
            .violation(.cardNotInDeck(Card(code: UInt8(chaos.random.next(below: 53))) ?? .faceDown)),
            .violation(.cardsAreDealt), .duplicateItem(id()), .doesNotFit(reach: count(), count: count()),
            .revisionMoved(now: revision()), .notStored, .notAllowed, .tooManyPending(limit: count()),
            .storeFull(limit: count()), .reasonForgotten,
        ]
        return reasons[chaos.random.next(below: reasons.count)]
    }

    // MARK: Messages

    /// One message of each kind from the client.
    mutating func up() -> [UpMessage] {
        [
            .hello(
                UpMessage.Hello(
                    lowestVersion: count(ProtocolVersion.lowest),
                    capabilities: Capabilities(rawValue: number()),
                    client: .random(using: &chaos.random), person: text(), program: text(),
                    token: flag() ? text() + "t" : nil, idle: number())),
            .subscribe(
                .init(
                    request: number(), name: text(), logID: chaos.random.next(), revision: revision(),
                    wantsItems: flag(), wantsPeople: flag())),
            .unsubscribe(list: number()),
            .submit(submission()),
            .presence(list: number(), focus()),
            .ping(number()),
            .create(request: number(), name: text(), rules: rules()),
            .delete(request: number(), name: text()),
            .lists(request: number(), after: text()),
            .history(request: number(), name: text(), from: revision(), limit: count()),
            .fetch(request: number(), name: text(), revision: flag() ? revision() : nil),
            .excerpt(
                .init(
                    request: number(), name: text(), revision: flag() ? revision() : nil, from: count(), selections())),
            .rename(request: number(), name: text(), newName: text()),
            .undelete(
                request: number(), name: text(), deletion: flag() ? number() | 1 : nil, newName: text()),
            .deletedLists(request: number(), before: flag() ? number() | 1 : nil),
        ]
    }

    /// One message of each kind from the server.
    mutating func down() -> [DownMessage] {
        let codes = ErrorCode.allCases
        return [
            .welcome(
                .init(
                    version: count(), capabilities: Capabilities(rawValue: number()), author: number(),
                    idleDeadline: number(), frameBytes: count(), program: text())),
            .subscribed(
                .init(
                    request: number(), list: number(), logID: chaos.random.next(), rules: rules(),
                    lastSequence: number(), isLastRefused: flag(),
                    start: flag()
                        ? flag()
                            ? .newest(revision())
                            : .resumed(head: revision(), digest: chaos.random.next())
                        : .snapshot(revision: revision(), count: count(), digest: chaos.random.next()))),
            .chunk(request: number(), items: Hand(chaos.items(chaos.random.next(below: 6)))),
            .commit(list: number(), commit()),
            .rejected(list: number(), sequence: number(), rejection()),
            .stale(list: number(), sequence: number(), head: revision()),
            .acknowledged(list: number(), sequence: number(), revision: revision()),
            .presence(list: number(), presence()),
            .pong(number()),
            .done(request: number()),
            .lists(request: number(), listEntries(), hasMore: flag()),
            .deletedLists(
                request: number(),
                listEntries().map {
                    .init(deletion: number(), list: $0, person: text(), time: number(), keptUntil: number())
                }, hasMore: flag()),
            .renamed(list: number(), name: text()),
            .granted(
                .init(
                    person: text(), everywhere: Role.allCases[chaos.random.next(below: Role.allCases.count)],
                    lists: (0..<chaos.random.next(below: 4)).map { _ in
                        .init(name: text(), role: Role.allCases[chaos.random.next(below: Role.allCases.count)])
                    })),
            .history(
                request: number(), (0..<chaos.random.next(below: 4)).map { _ in commit() },
                people: [.init(author: number(), name: text())]),
            .state(
                request: number(), revision: revision(), count: count(), digest: chaos.random.next(), rules: rules()),
            .excerpt(request: number(), excerpt()),
            .error(
                code: codes[chaos.random.next(below: codes.count)], request: number(), list: number(),
                retryAfter: number(),
                message: text()),
        ]
    }

    private mutating func selections() -> [Excerpt.Selection] {
        (0..<chaos.random.next(below: 4)).map { _ in
            let (low, high) = (id(), id())
            return flag() ? .positions(start: count(), count: count()) : .ids(min(low, high)...max(low, high))
        }
    }

    private mutating func excerpt() -> Excerpt {
        let items = chaos.items(chaos.random.next(below: 6))
        var position = 0
        let entries = items.map { item in
            defer { position += 1 + chaos.random.next(below: 3) }
            return Excerpt.Entry(position: position, item: item)
        }
        return Excerpt(
            logID: chaos.random.next(), revision: revision(), count: position, rules: rules(), entries: entries,
            isCut: flag())
    }

    private mutating func presence() -> [DownMessage.Presence] {
        (0..<chaos.random.next(below: 4)).map { _ in
            .init(author: number(), place: flag() ? .gone : .here(person: text(), focus()))
        }
    }

    private mutating func focus() -> Focus? { flag() ? Focus(id(), isEditing: flag()) : nil }

    private mutating func listEntries() -> [DownMessage.ListEntry] {
        (0..<chaos.random.next(below: 4)).map { _ in
            .init(name: text(), count: count(), revision: revision(), rules: rules())
        }
    }
}

/// Returns the body of a frame.
func body(of frame: [UInt8]) -> [UInt8] {
    var size = 1
    while UInt64(frame.count - size).varintSize != size { size += 1 }
    return Array(frame.dropFirst(size))
}

extension UpMessage {
    init(_ body: [UInt8]) throws(WireError) {
        self = try body.withUnsafeBytes { all in Result { () throws(WireError) in try UpMessage(all) } }.get()
    }
}

extension DownMessage {
    init(_ body: [UInt8]) throws(WireError) {
        self = try body.withUnsafeBytes { all in Result { () throws(WireError) in try DownMessage(all) } }.get()
    }
}
