/// A requirement for clients, with its number in `Protocol.md`.
package enum Requirement: Int, CaseIterable, Sendable {
    case randomIDs = 1
    case largeFrames, closesOnUnknown, stopsOnUnknown, unknownKinds, helloFirst, offeredVersion, clientIDKept, ownID
    case leavesSharedID, neverSilent, pingsInTime, growingWaits, waits, sameAsMachine, keptFirst, oneInFlight, fitsBase
    case sequenceOnce, sentOnce, caughtUp, rightList, commitsDelta, noDamage, overridden, presenceAgain, composedNames
    case historyStart, keptSequence

    package var name: String { "C\(rawValue)" }

    /// What shows a requirement that does not show in frames.
    package var proof: String? {
        switch self {
        case .keptFirst: "what is on the disk: end the client with kill -9"
        case .overridden: "what its person is told: the vectors 'commit: overriding, …'"
        default: nil
        }
    }

    /// What gives an occasion, if editing does not.
    private var occasion: String? {
        switch self {
        case .stopsOnUnknown: "--provoke unknown"
        case .offeredVersion: "--provoke version"
        case .leavesSharedID: "--provoke replaced"
        case .ownID: "two programs at once"
        case .rightList: "delete and create a list"
        case .composedNames: "--list Käse"
        case .historyStart: "read the history"
        case .keptSequence: "edit without the items"
        default: nil
        }
    }

    /// The number, and what gives an occasion.
    var hint: String { occasion.map { "\(name) (\($0))" } ?? name }

    var rule: String {
        switch self {
        case .randomIDs: "draw the id of each new item at random"
        case .largeFrames: "accept bodies up to 16 MiB"
        case .closesOnUnknown: "close the connection after bytes that it does not understand"
        case .stopsOnUnknown: "stop after such bytes came four times"
        case .unknownKinds: "keep, move and pass on items of unknown kinds"
        case .helloFirst: "send the hello first"
        case .offeredVersion: "close the connection if it is welcomed in a version that it did not offer"
        case .clientIDKept: "keep the client id while edits are pending"
        case .ownID: "have a client id for each program"
        case .leavesSharedID: "take another id, or stop, when it was replaced four times"
        case .neverSilent: "send something within the idle deadline"
        case .pingsInTime: "ping at a third of the idle deadline"
        case .growingWaits: "wait at random, below a bound that doubles with each failure"
        case .waits: "wait as long as 'retry after' says"
        case .sameAsMachine: "send what the machine of section 5 sends"
        case .keptFirst: "have on the disk what happened before a message is sent"
        case .oneInFlight: "have one submission in flight for each list"
        case .fitsBase: "make the delta on the list at its base"
        case .sequenceOnce: "use a sequence for one edit only"
        case .sentOnce: "send an edit once on a connection, except after 'stale'"
        case .caughtUp: "submit nothing before the head is reached"
        case .rightList: "submit an edit to the list that it was made on"
        case .commitsDelta: "take the commit's delta"
        case .noDamage: "accept no list with another digest"
        case .overridden: "say which edits were overridden"
        case .presenceAgain: "send presence again after a loss"
        case .composedNames: "send names in Unicode's composed form (NFC)"
        case .historyStart: "not take the first commit of a history for the one that it asked for"
        case .keptSequence: "keep the last sequence with its client id"
        }
    }
}

/// Which requirements the clients had an occasion to break, and which of them they broke.
package struct Verdict: Sendable {
    package struct Finding: Sendable {
        package let requirement: Requirement
        package let text: String
        /// The last frames of the connection.
        package let frames: [String]
    }

    /// The first finding of each requirement, in the order in which they were found.
    package private(set) var findings: [Finding] = []
    package private(set) var exercised: Set<Requirement> = []

    /// Whether a client has submitted anything.
    package var hasEdits: Bool { exercised.contains(.caughtUp) }
    package var isGood: Bool { findings.isEmpty && hasEdits }

    package func isBroken(_ requirement: Requirement) -> Bool {
        findings.contains { $0.requirement == requirement }
    }

    mutating func exercise(_ requirement: Requirement) { exercised.insert(requirement) }

    mutating func add(_ requirement: Requirement, _ text: String, _ frames: [String]) {
        exercised.insert(requirement)
        guard !isBroken(requirement) else { return }
        findings.append(Finding(requirement: requirement, text: text, frames: frames))
    }

    /// The verdict for people, line by line.
    package var lines: [String] {
        let broken = findings.flatMap { finding in
            ["broken: \(finding.requirement.name), \(finding.requirement.rule)", "  \(finding.text)"]
                + finding.frames.map { "    \($0)" }
        }
        let all = Requirement.allCases
        let rest = all.filter { !exercised.contains($0) && $0.proof == nil }
        return broken + [
            "exercised: \(Self.list(all.filter(exercised.contains).map(\.name)))",
            "not exercised: \(Self.list(rest.map(\.hint)))",
        ]
            + all.compactMap { requirement in
                requirement.proof.map { "cannot be judged from frames: \(requirement.name), \($0)" }
            } + [
                findings.isEmpty
                    ? hasEdits
                        ? "verdict: no requirement was broken"
                        : "verdict: nothing was judged, because no client has edited"
                    : "verdict: broken: \(Self.list(all.filter(isBroken).map(\.name)))"
            ]
    }

    private static func list(_ requirements: [String]) -> String {
        requirements.isEmpty ? "none" : requirements.joined(separator: ", ")
    }
}
