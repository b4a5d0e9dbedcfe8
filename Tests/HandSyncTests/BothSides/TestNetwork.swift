import HandCore
import HandSync
import HandTestSupport
import HandWire

/// One authority and some replicas, connected by queues that the test empties in any order.
struct TestNetwork {
    var authority: Authority
    var replicas: [Replica]
    /// Submissions on their way up, by replica.
    var up: [[Submission]]
    /// Answers on their way down, by replica: commits arrive in order, rejections among them.
    var down: [[DownMessage]]
    var notices: [[Replica.Notice]]
    var seen: [Int]
    /// The history, and the list after each of its commits, from revision 0 on.
    private(set) var log: [Commit] = []
    private(set) var past: [Hand]

    init(_ items: [Item], replicas count: Int, rules: Rules = Rules(), deck: Deck? = nil, limits: Limits = Limits()) {
        let hand = Hand(items, rules: rules)
        past = [hand]
        authority = Authority(
            Authority.Start(list: 1, logID: 9, hand: hand, revision: 0, deck: deck, sequences: [:]), limits: limits)
        replicas = (0..<count).map { index in
            var replica = Replica(confirmed: hand, revision: 0, logID: 9, sequence: 0)
            replica.author = AuthorID(index + 1)
            return replica
        }
        up = Array(repeating: [], count: count)
        down = Array(repeating: [], count: count)
        notices = Array(repeating: [], count: count)
        seen = Array(repeating: 0, count: count)
    }

    mutating func edit(_ index: Int, _ delta: Delta) throws {
        try replicas[index].edit(delta)
        submit(index)
    }

    mutating func submit(_ index: Int) {
        guard replicas[index].inFlight == nil, let submission = replicas[index].takeSubmission(list: 1) else { return }
        up[index].append(submission)
    }

    /// Makes the server accept the next submission of that replica and write it.
    mutating func deliverUp(_ index: Int) {
        let submission = up[index].removeFirst()
        switch authority.submit(submission, author: AuthorID(index + 1), now: 0) {
        case .numbered:
            guard let commit = authority.newest else { preconditionFailure("a numbered commit is in the window") }
            _ = authority.takeBatch()
            authority.wrote()
            log.append(commit)
            past.append(authority.hand)
            for other in down.indices { down[other].append(.commit(list: 1, commit)) }
        case .rejected(let reason):
            down[index].append(.rejected(list: 1, sequence: submission.sequence, reason))
        case .waiting, .acknowledged: break
        case .stale, .failed, .tooMuchWork: preconditionFailure("the harness keeps to the protocol")
        }
    }

    /// Gives that replica the next answer. Then it submits the waiting edit, if any.
    mutating func deliverDown(_ index: Int) throws {
        switch down[index].removeFirst() {
        case .commit(_, let commit): notices[index] += try replicas[index].receive(commit).notices
        case .rejected(_, let sequence, let reason):
            notices[index] += replicas[index].rejected(sequence: sequence, reason).notices
        default: break
        }
        submit(index)
    }

    mutating func settle() throws {
        while let index = up.firstIndex(where: { !$0.isEmpty }) ?? nil { deliverUp(index) }
        while down.contains(where: { !$0.isEmpty }) || up.contains(where: { !$0.isEmpty }) {
            for index in down.indices where !down[index].isEmpty { try deliverDown(index) }
            for index in up.indices where !up[index].isEmpty { deliverUp(index) }
        }
    }

    /// Whether everybody has the server's list and nothing is pending.
    var hasConverged: Bool {
        replicas.allSatisfy { replica in
            replica.confirmed == authority.hand && replica.view == authority.hand && !replica.hasPending
                && !replica.hasDiverged && replica.revision == authority.revision
        }
    }
}
