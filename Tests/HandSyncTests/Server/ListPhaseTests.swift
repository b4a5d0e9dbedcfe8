import HandCore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// A list on a server moves between phases as the table in its source says.
@Suite struct ListPhaseTests {
    private static let batch = CommitBatch(list: 1, expected: 0, commits: [])

    private static let phases: [String: ListPhase] = [
        "ready": .ready, "due": .due, "writing": .writing, "unsettled": .unsettled(batch), "behind": .behind,
        "adopting": .adopting, "editing": .editing, "gone": .gone,
    ]

    private static func happens(_ event: String, to phase: inout ListPhase) {
        switch event {
        case "a commit is numbered": phase.numbered()
        case "a batch is handed over": phase.handedOver()
        case "written, nothing waits": phase.written(hasMore: false)
        case "written, commits wait": phase.written(hasMore: true)
        case "the store cannot tell": phase.unknown(batch)
        case "it is handed over again": _ = phase.handedOverAgain()
        case "others' commits win": phase.conflicted()
        case "current, nothing waits": phase.upToDate(hasMore: false)
        case "current, commits wait": phase.upToDate(hasMore: true)
        case "others' commits arrive": phase.adopt()
        case "adopted, nothing waits": phase.adopted(hasMore: false)
        case "adopted, commits wait": phase.adopted(hasMore: true)
        case "a large edit begins": phase.beginEdit()
        case "the large edit is made": phase.endEdit()
        case "the list is evicted": phase.evicted()
        default: Issue.record("nothing is known of '\(event)'")
        }
    }

    private static func name(_ phase: ListPhase) -> String {
        switch phase {
        case .ready: "ready"
        case .due: "due"
        case .writing: "writing"
        case .unsettled: "unsettled"
        case .behind: "behind"
        case .adopting: "adopting"
        case .editing: "editing"
        case .gone: "gone"
        }
    }

    @Test func phasesFollowTheTable() throws {
        let table = try TransitionTable(of: "Server/Lists/ListPhase.swift", first: "what happens")
        #expect(Set(table.states) == Set(Self.phases.keys) && table.rows.count == 15)
        for (event, row) in table.rows {
            for (before, after) in row {
                var phase = try #require(Self.phases[before])
                Self.happens(event, to: &phase)
                #expect(Self.name(phase) == after, "\(event), in \(before)")
                #expect(phase.mayAdopt == ["ready", "due", "behind"].contains(after))
                #expect(phase.isReady == (after == "ready") && phase.isDue == (after == "due"))
                #expect(phase.isGone == (after == "gone") && phase.isEditing == (after == "editing"))
            }
        }
    }
}
