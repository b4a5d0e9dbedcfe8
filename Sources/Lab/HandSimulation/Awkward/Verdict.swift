/// A requirement for clients, with its number in `Protocol.md`. These are the requirements that show in frames; the
/// vectors in `machine.jsonl` show others.
package enum Requirement: Int, CaseIterable, Sendable {
    case randomIDs = 1
    case closesOnUnknown = 3
    case helloFirst = 6
    case clientIDKept = 8
    case neverSilent = 11
    case pingsInTime = 12
    case waits = 14
    case sameAsMachine = 15
    case oneInFlight = 17
    case fitsBase = 18
    case sequenceOnce = 19
    case sentOnce = 20
    case caughtUp = 21
    case rightList = 22
    case commitsDelta = 23
    case noDamage = 24
    case presenceAgain = 26
    case composedNames = 27

    package var name: String { "C\(rawValue)" }

    var rule: String {
        switch self {
        case .randomIDs: "draw the id of each new item at random"
        case .closesOnUnknown: "close the connection after bytes that it does not understand"
        case .helloFirst: "send the hello first"
        case .clientIDKept: "keep the client id while edits are pending"
        case .neverSilent: "send something within the idle deadline"
        case .pingsInTime: "ping at a third of the idle deadline"
        case .waits: "wait as long as 'retry after' says"
        case .sameAsMachine: "send what the machine of section 5 sends"
        case .oneInFlight: "have one submission in flight for each list"
        case .fitsBase: "make the delta on the list at its base"
        case .sequenceOnce: "use a sequence for one edit only"
        case .sentOnce: "send an edit once on a connection, except after 'stale'"
        case .caughtUp: "submit nothing before the head is reached"
        case .rightList: "submit an edit to the list that it was made on"
        case .commitsDelta: "take the commit's delta"
        case .noDamage: "accept no list with another digest"
        case .presenceAgain: "send presence again after a loss"
        case .composedNames: "send names in Unicode's composed form (NFC)"
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
        return broken + [
            "exercised: \(Self.list(all.filter(exercised.contains)))",
            "not exercised: \(Self.list(all.filter { !exercised.contains($0) }))",
            findings.isEmpty
                ? hasEdits
                    ? "verdict: no requirement was broken" : "verdict: nothing was judged, because no client has edited"
                : "verdict: broken: \(Self.list(all.filter(isBroken)))",
        ]
    }

    private static func list(_ requirements: [Requirement]) -> String {
        requirements.isEmpty ? "none" : requirements.map(\.name).joined(separator: ", ")
    }
}
