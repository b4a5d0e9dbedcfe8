import HandCore
import HandSync
import HandWire
import Testing

/// The client's side of a connection in time: when it tries again, asks for a sign of life, and gives up.
@Suite struct ClientSessionTests {
    /// A session that has been started, with what it wanted.
    private struct Driven {
        var session = ClientSession(client: ClientID(high: 0, low: 1), person: "", program: "", seed: 1)
        var effects: [ClientSession.Effect] = []

        init() { perform { $0.start($1) } }

        mutating func perform(_ body: (inout ClientSession, (ClientSession.Effect) -> Void) -> Void) {
            var effects: [ClientSession.Effect] = []
            body(&session) { effects.append($0) }
            self.effects += effects
        }

        mutating func hear(_ message: DownMessage, now: UInt64) {
            let frame = message.frame
            perform { session, effect in frame.withUnsafeBytes { session.received($0, now: now, effect) } }
        }

        /// The wait that it last announced, if it comes back at all.
        var retryIn: UInt64? {
            for case .status(.offline(_, let wait)) in effects.reversed() { return wait }
            return nil
        }
    }

    /// A server that asks to be left alone is, for a minute at most.
    @Test func aServerThatAsksForItIsLeftAlone() {
        for (asked, expected) in [(0, 0), (7_000, 7_000), (900_000, 60_000)] as [(UInt64, UInt64)] {
            var driven = Driven()
            driven.perform { $0.connected(now: 1_000, $1) }
            driven.hear(.error(code: .tooFast, request: 0, retryAfter: asked, message: ""), now: 1_000)
            // The first wait of its own is 50 ms at least and 150 at most.
            #expect((expected + 50...expected + 150).contains(driven.retryIn ?? .max))
            #expect(driven.session.deadline == driven.retryIn.map { 1_000 + $0 })
        }
    }
}
