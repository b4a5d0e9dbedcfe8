import HandCore
import HandFormats
import HandScreens
import Testing

/// If a list is on several servers, the screens show which of them is meant.
@Suite struct ManyServersTests {
    private static func stage(_ route: Route, isOnline: Bool = true) throws -> Stage {
        let server = try HandAddress("hand://a:1,b:2").server
        return Stage(["things": Hand()], opening: route, isOnline: isOnline, server: server)
    }

    @Test func theTriedServerIsNamed() throws {
        var stage = try Self.stage(.list("things"), isOnline: false)
        stage.send(.connection(.connecting(to: "a:1")))
        #expect(stage.lines.last?.hasSuffix("connecting to a:1") == true)
        stage.send(.connection(.connecting(to: "b:2")))
        #expect(stage.lines.last?.hasSuffix("connecting to b:2") == true)
        // A single server needs no name.
        stage.send(.connection(.connecting(to: nil)))
        #expect(stage.lines.last?.hasSuffix("connecting") == true)
    }

    @Test func theConnectedServerIsNamed() throws {
        var stage = try Self.stage(.connection)
        #expect(stage.lines.contains { $0.hasSuffix("state    online") })
        stage.send(.connection(.connecting(to: "b:2")))
        #expect(stage.lines.contains { $0.hasSuffix("state    connecting to b:2") })
        stage.send(.connection(.online))
        #expect(stage.lines.contains { $0.hasSuffix("server   hand://a:1,b:2") })
        #expect(stage.lines.contains { $0.hasSuffix("state    online at b:2") })
    }

    @Test func unreachableServersAreNamed() throws {
        var stage = Stage(opening: .lists, isOnline: false, server: try HandAddress("hand://a:1,b:2").server)
        stage.goOffline("a:1, b:2: connection refused")
        #expect(stage.lines.contains { $0.contains("No server answers: a:1, b:2: connection refused.") })
        stage = Stage(opening: .lists, isOnline: false)
        stage.goOffline()
        #expect(stage.lines.contains { $0.contains("No server answers at hand://host:7777: connection refused.") })
    }

    /// People on a list are forgotten when the connection is lost, whether or not there is a wait before the next.
    @Test func theNextServerReportsPresenceAgain() throws {
        var stage = try Self.stage(.list("things"))
        stage.presence("bob", on: nil)
        #expect(stage.lines.last?.contains("2 people") == true)
        stage.send(.connection(.connecting(to: "b:2")))
        stage.send(.connection(.online))
        #expect(stage.lines.last?.contains("alone") == true)
    }
}
