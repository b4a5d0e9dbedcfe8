import Foundation
import HandCore
import HandSync
import HandWire

extension Row {
    /// The work of a returning client: it submits its offline edits, and applies the others' commits.
    static let merging = Row(
        name: "merging two offline branches of 100,000 edits, ms", goal: .below(100)
    ) { bench in
        var (ours, theirs, editing): ([Double], [Double], [Double]) = ([], [], [])
        for pair in 0..<bench.pairs {
            let branches = Branches(edits: 100_000, seed: UInt64(pair))
            let result = try branches.merge()
            ours.append(result.merge)
            editing.append(result.edit)
            if let loro = try branches.mergeWithLoro(bench) { theirs.append(loro) }
        }
        let made = "making the edits took \(Int(editing.median)) ms"
        return Outcome(
            base: theirs.isEmpty ? nil : theirs.median, ours: ours.median,
            remark: made + (theirs.isEmpty ? "; Loro is not installed" : "; other is Loro, ratio ≤ 0.125 is the goal"))
    }
}

/// Random edits of two people on one list of 1,000 items; one third each are insertions, deletions and moves.
private struct Branches {
    private enum Edit {
        case insert(Int, String)
        case delete(Int)
        /// The item ends at the second position.
        case move(Int, to: Int)
    }

    private static let size = 1_000
    private let first: [Edit]
    private let second: [Edit]

    init(edits: Int, seed: UInt64) {
        var random = SplitMix64(seed: 900 + seed)
        func branch(_ name: String) -> [Edit] {
            var count = Self.size
            return (0..<edits).map { step in
                switch count < 2 ? 0 : random.next(below: 3) {
                case 0:
                    count += 1
                    return .insert(random.next(below: count), "\(name) inserted \(step)")
                case 1:
                    count -= 1
                    return .delete(random.next(below: count + 1))
                default: return .move(random.next(below: count), to: random.next(below: count))
                }
            }
        }
        first = branch("A")
        second = branch("B")
    }

    /// Returns the milliseconds for making the edits, on both sides together, and for merging them.
    func merge() throws -> (edit: Double, merge: Double) {
        var random = SplitMix64(seed: 3)
        let base = Hand(
            (0..<Self.size).map { Item(id: .random(using: &random), content: .note("item number \($0)")) })
        var authority = Authority(
            Authority.Start(list: 1, logID: 1, hand: base, revision: 0, deck: nil, sequences: [:]), limits: Limits())
        var people = [first, second].map { _ in Replica(confirmed: base, revision: 0, logID: 1, sequence: 0) }
        for index in people.indices { people[index].author = AuthorID(rawValue: UInt64(index + 1)) }
        let edit = try Self.milliseconds {
            for (index, edits) in [first, second].enumerated() {
                for edit in edits { _ = try people[index].edit(Self.delta(edit, &random)) }
            }
        }
        let merge = try Self.milliseconds {
            for index in people.indices {
                while let submission = people[index].takeSubmission(list: 1) {
                    guard case .numbered = authority.submit(submission, author: AuthorID(index + 1), now: 0),
                        let commit = authority.newest
                    else { throw Problem("a submission was not accepted") }
                    _ = authority.takeBatch()
                    authority.wrote()
                    for other in people.indices { _ = try people[other].receive(commit) }
                }
            }
        }
        guard people.allSatisfy({ $0.view.digest == authority.hand.digest }) else {
            throw Problem("the branches differ")
        }
        return (edit, merge)
    }

    private static func delta(_ edit: Edit, _ random: inout SplitMix64) -> Delta {
        switch edit {
        case .insert(let place, let text):
            .inserting([Item(id: .random(using: &random), content: .note(text))], at: place, .after)
        case .delete(let place): .deleting(place..<place + 1)
        case .move(let from, let to): .moving(from..<from + 1, to: to > from ? to + 1 : to, .after)
        }
    }

    private static func milliseconds(_ body: () throws -> Void) rethrows -> Double {
        let start = ContinuousClock.now
        try body()
        return (ContinuousClock.now - start).seconds * 1_000
    }

    /// Returns the milliseconds for merging the same edits with Loro, or nil if Loro is not installed.
    func mergeWithLoro(_ bench: Bench) throws -> Double? {
        func lines(_ edits: [Edit]) -> [String] {
            edits.map { edit in
                switch edit {
                case .insert(let place, let text): "i \(place) \(text)"
                case .delete(let place): "d \(place)"
                case .move(let from, let to): "m \(from) \(to)"
                }
            }
        }
        let text = (["\(Self.size)", "A"] + lines(first) + ["B"] + lines(second)).joined(separator: "\n")
        let path = try bench.write(text, to: "branches")
        let output = try Child(["python3", bench.peer("loro_merge.py"), path], core: 1).finish()
        guard let line = output.last else { return nil }
        struct Result: Decodable {
            let merge: Double
            let converged: Bool
        }
        let result = try JSONDecoder().decode(Result.self, from: Data(line.utf8))
        guard result.converged else { throw Problem("Loro's branches differ") }
        return result.merge
    }
}
