import HandServer
import Testing

@Suite struct MemoryWatchTests {
    @Test func memoryGoesBackOnceMuchHasChanged() {
        var watch = MemoryWatch()
        let looks = [
            (900, 0, false), (999, 9_999, false), (1_000, 9_999, true), (1_000, 9_999, false),
            // Many go.
            (400, 9_999, false), (100, 9_999, false), (1, 19_998, false), (0, 19_998, true),
            (0, 29_997, false), (0, 29_998, true), (0, 29_998, false),
            // Many come and go, in a list that was removed.
            (100, 40_000, false), (0, 40_000, false), (0, 40_000, true),
        ]
        for (step, look) in looks.enumerated() {
            #expect(watch.isReleaseDue(connections: look.0, removedItems: look.1) == look.2, "step \(step)")
        }
    }
}
