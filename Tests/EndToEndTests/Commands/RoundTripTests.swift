import FaultyNetwork
import HandClient
import HandCore
import HandWire
import Testing

/// Counts the round trips of commands over a slow network, after the connection is made.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RoundTripTests {
    private let direct: CommandUser
    private let ada: CommandUser
    private let proxy: FaultyProxy

    init() throws {
        direct = try CommandUser("ben", ["--listen", "127.0.0.1:0"])
        proxy = try FaultyProxy(to: try direct.server.tcpAddress(), seed: 1)
        // All that a client sends without waiting is under way together.
        proxy.change { $0.bothWays { $0.latency = 500 } }
        var user = direct.named("ada")
        user.environment["HAND_URL"] = "hand://127.0.0.1:\(proxy.address.port)/list"
        ada = user
        try ada.hand("create", "list")
    }

    private func roundTrips(_ arguments: [String], status: Int32 = 0) throws -> Int {
        let before = proxy.traffic.roundTrips
        let outcome = try ada.run(arguments)
        #expect(outcome.status == status, "\(arguments): \(outcome.messages)")
        return proxy.traffic.roundTrips - before
    }

    @Test func anEditTakesTwo() throws {
        let edits = [
            ["add", "milk", "bread", "eggs"], ["add", "first", "--top"], ["done", "2"], ["mv", "2", "--end"],
            ["edit", "1", "tea"], ["rm", "2"], ["add", "next", "--after", "1"], ["clear"], ["add", "last", "--queue"],
        ]
        for edit in edits { #expect(try roundTrips(edit) == 2, "\(edit)") }
        // The server is only asked.
        #expect(try roundTrips(["done", "9"], status: 3) == 1)
        // So it is for what changed.
        #expect(try roundTrips(["add", "x", "--if-revision", "1"], status: 7) == 2)
        #expect(try direct.lines() == ["[ ] tea", "[ ] next", "[ ] eggs", "[ ] last"])
    }

    /// What others have overridden is found out while the edit is prepared, and who it was.
    @Test func earlierWorkCostsNothing() async throws {
        try ada.hand("add", "milk", "bread")
        let address = "hand+unix://\(direct.server.socket)/list"
        let ben = try HandClient(ClientConfiguration(address: address, person: "ben", program: "test"))
        // Ben edits what he saw before ada's edit.
        let list = try await ben.enter("list")
        let seen = try await list.part(.items([.positions(start: 0, count: 1)]))
        #expect(try roundTrips(["edit", "1", "oat milk"]) == 2)
        // The connection outlives the command by the latency, and would get ben's commit.
        while await !proxy.heldBytes().isEmpty {}
        _ = try await list.submit(.deleting(0..<1), on: seen)
        await ben.close()
        let before = proxy.traffic.roundTrips
        let told = try ada.messages("add", "more")
        #expect(told.contains("ben deleted"), "\(told)")
        #expect(proxy.traffic.roundTrips - before == 2)
        #expect(try roundTrips(["add", "and more"]) == 2)
        #expect(try !ada.messages("ls").contains("ben"))
    }

    /// An undo reads the history, and what the commit's items were before.
    @Test func undoTakesFew() throws {
        try ada.hand("add", "milk")
        #expect(try roundTrips(["undo"]) <= 4)
        #expect(try roundTrips(["redo"]) <= 5)
        #expect(try direct.lines() == ["[ ] milk"])
    }

    @Test func readingTakesFew() throws {
        try ada.hand("add", "milk", "bread")
        #expect(try roundTrips(["who"]) == 1)
        #expect(try roundTrips(["ls", "1-2"]) <= 2)
    }
}
