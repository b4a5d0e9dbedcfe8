import HandCore
import HandSync
import HandWire

enum Stopwatch {
    static func nanoseconds(_ body: () -> Void) -> Double {
        let duration = ContinuousClock().measure(body)
        return Double(duration.components.seconds) * 1e9 + Double(duration.components.attoseconds) / 1e9
    }
}

/// Keeps the optimizer from removing computations whose results are never read.
enum Sink {
    nonisolated(unsafe) private static var total = 0

    // `nonisolated(unsafe)` is safe: the benchmarks run on one thread.
    @inline(never) static func take(_ value: Int) { total &+= value }
}

/// Random single edits on a list.
struct Edits {
    enum Kind { case insert, delete, move, edit }

    private static let operations = 20_000
    private let size: Int
    private var random: SplitMix64
    private let kinds: [Kind]

    init(_ size: Int, seed: UInt64, kinds: [Kind]) {
        random = SplitMix64(seed: seed)
        self.kinds = kinds
        self.size = size
    }

    /// A list with no other references, so that edits need not copy.
    private var list: Hand { Self.list(size) }

    /// Returns items with texts of about 20 bytes.
    static func list(_ size: Int) -> Hand {
        Hand(
            (0..<size).map { index in
                Item(
                    id: ItemID(rawValue: UInt64(index) &* 0x9E37_79B9_7F4A_7C15),
                    content: .task("item number \(index)", done: false))
            })
    }

    /// Returns successive edits that cycle through the kinds.
    func deltas(_ number: Int) -> [Delta] {
        var random = random
        var count = size
        return (0..<number).map { step in
            let kind = count < 2 ? .insert : kinds[step % kinds.count]
            switch kind {
            case .insert:
                count += 1
                let item = Item(id: .random(using: &random), content: .task("inserted \(step)", done: false))
                return Delta.inserting([item], at: random.next(below: count), step % 2 == 0 ? .after : .before)
            case .delete:
                let index = random.next(below: count)
                count -= 1
                return Delta.deleting(index..<index + 1)
            case .move:
                let index = random.next(below: count)
                return Delta.moving(index..<index + 1, to: random.next(below: count), .after)
            case .edit: return Delta.editing(at: random.next(below: count), Change(done: step % 2 == 0))
            }
        }
    }

    private func measure(_ body: (Delta) -> Void) -> Double {
        let deltas = deltas(Self.operations)
        return Stopwatch.nanoseconds { for delta in deltas { body(delta) } } / Double(deltas.count)
    }

    func apply() -> Double {
        var hand = list
        return measure { try? hand.apply($0) }
    }

    /// Each value is kept, so each edit copies the path to it.
    func applyKeeping() -> Double {
        var hand = list
        return measure { delta in
            let kept = hand
            if let next = try? hand.applying(delta) { hand = next }
            Sink.take(kept.count)
        }
    }

    func digest() -> Double {
        var hand = list
        return measure { delta in
            try? hand.apply(delta)
            Sink.take(Int(truncatingIfNeeded: hand.digest))
        }
    }

    func compose() -> Double {
        var composer = Composer()
        return measure { composer.append($0) }
    }
}

/// Pairs of single edits that were made on the same list.
struct Pairs {
    private let first: [Delta]
    private let second: [Delta]

    init(_ size: Int) {
        first = Edits(size, seed: 7, kinds: [.insert, .delete, .move, .edit]).deltas(5_000)
        second = Edits(size, seed: 8, kinds: [.edit, .insert, .delete, .move]).deltas(5_000)
    }

    func transform() -> Double {
        Stopwatch.nanoseconds {
            for (a, b) in zip(first, second) { Sink.take(b.transformed(over: a, as: .later).growth) }
        } / Double(first.count)
    }

    /// Transforms each edit over a thousand others, as a server carries a submission over earlier commits. Returns the
    /// time for one of them.
    func transformIntegers() -> Double {
        let edits = second.compactMap(SingleEdit.init).prefix(1_000)
        let others = first.compactMap(SingleEdit.init).map(SingleEdit.PositionShift.init).prefix(1_000)
        return Array(others).withUnsafeBufferPointer { others in
            Stopwatch.nanoseconds {
                for edit in edits { Sink.take(Int(edit.transformed(over: others[...]).edit?.gap ?? 0)) }
            }
        } / Double(edits.count * others.count)
    }
}

/// Whole commits of a server, without sockets and disk: transform, check, apply, number, encode.
struct Commits {
    private static let operations = 10_000
    private let size: Int
    private let lag: Int

    init(_ size: Int, lag: Int) {
        self.size = size
        self.lag = lag
    }

    private var list: Hand { Edits.list(size) }

    private var authority: Authority {
        Authority(
            Authority.Start(list: 1, logID: 1, hand: list, revision: 0, deck: nil, sequences: [:]), limits: Limits())
    }

    /// Edits that fit any state of the list: they keep its length.
    private var deltas: [Delta] {
        Edits(size, seed: 9, kinds: [.move, .edit]).deltas(Self.operations)
    }

    private var author: Author { Author(number: 1, client: 1) }

    private func commit(_ deltas: [Delta], _ authority: inout Authority, _ each: (Commit) -> Void) {
        for (index, delta) in deltas.enumerated() {
            let base = max(0, authority.revision - lag)
            let submission = Submission(
                list: 1, base: base, sequence: SequenceNumber(rawValue: UInt64(index + 1)), delta: delta)
            guard case .numbered = authority.submit(submission, author: author, now: 0), let commit = authority.newest
            else {
                preconditionFailure("the benchmark's edits fit")
            }
            each(commit)
            _ = authority.takeBatch()
            authority.wrote()
        }
    }

    func run() -> Double {
        var authority = authority
        let deltas = deltas
        return Stopwatch.nanoseconds { commit(deltas, &authority) { _ in } } / Double(deltas.count)
    }

    func receive() -> Double {
        var commits: [Commit] = []
        var authority = authority
        commit(deltas, &authority) { commits.append($0) }
        var replica = Replica(confirmed: list, revision: 0, logID: 1, sequence: 0)
        return Stopwatch.nanoseconds { for commit in commits { _ = try? replica.receive(commit) } }
            / Double(commits.count)
    }
}

/// 8,000 items ticked offline, and as many single edits of others in the meantime.
struct Homecoming {
    private static let items = 20_000
    private static let ticked = 8_000
    private let commits: [Commit]
    private let mine: [Delta]
    private let authority: Authority

    /// - Parameter commits: the number of commits that the others made.
    init(commits: Int) {
        var authority = Authority(
            Authority.Start(
                list: 1, logID: 1, hand: Edits.list(Self.items), revision: 0, deck: nil, sequences: [:]),
            limits: Limits())
        let others = Edits(Self.items, seed: 12, kinds: [.insert, .delete, .move, .edit]).deltas(commits)
        self.commits = others.enumerated().map { index, delta in
            let submission = Submission(
                list: 1, base: index, sequence: SequenceNumber(rawValue: UInt64(index + 1)), delta: delta)
            guard
                case .numbered = authority.submit(submission, author: Author(number: 1, client: 1), now: 0),
                let commit = authority.newest
            else { preconditionFailure("the benchmark's edits fit") }
            _ = authority.takeBatch()
            authority.wrote()
            return commit
        }
        self.authority = authority
        mine = (0..<Self.ticked).map { Delta.editing(at: $0 * Self.items / Self.ticked, Change(done: true)) }
    }

    /// Returns the returning client's nanoseconds per commit.
    func receive() -> Double {
        var replica = Replica(confirmed: Edits.list(Self.items), revision: 0, logID: 1, sequence: 0)
        for delta in mine { _ = try? replica.edit(delta) }
        return Stopwatch.nanoseconds {
            for commit in commits { Sink.take((try? replica.receive(commit))?.notices.count ?? -1) }
        } / Double(commits.count)
    }

    /// Long deltas of several kinds, made before all the commits.
    static let belated: [(name: String, delta: Delta)] = [
        ("1 tick", spread(1)), ("40 ticks", spread(40)), ("1,000 ticks", spread(1_000)), ("8,000 ticks", spread(8_000)),
        ("1,000 insertions", inserted(1_000)),
        ("1,000 moved items", Delta.moving(0..<1_000, to: 10_000, .after)),
    ]

    private static func spread(_ count: Int) -> Delta {
        delta(count) { _ in .edit(Change(done: true)) }
    }

    private static func inserted(_ count: Int) -> Delta {
        delta(count) { .insert([Item(id: ItemID(rawValue: 1 << 60 + UInt64($0)), content: .note(""))], .after) }
    }

    private static func delta(_ count: Int, _ component: (Int) -> Delta.Component) -> Delta {
        let all = (0..<count).flatMap { [.keep(items / count - 1), component($0)] }
        return (try? Delta(all)) ?? .identity
    }

    /// Returns the milliseconds until the server answers such a delta, and the work that it counts for it.
    func answer(_ delta: Delta) -> (milliseconds: Double, work: Int) {
        var authority = authority
        let nanoseconds = Stopwatch.nanoseconds {
            let submission = Submission(list: 1, base: 0, sequence: 1, delta: delta)
            if case .failed = authority.submit(submission, author: Author(number: 2, client: 2), now: 0) {
                preconditionFailure("the benchmark's edits fit")
            }
        }
        return (nanoseconds / 1e6, authority.work)
    }
}
