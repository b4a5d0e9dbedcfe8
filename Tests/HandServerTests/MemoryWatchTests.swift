import HandServer
import Testing

@Suite struct MemoryWatchTests {
    @Test func memoryGoesBackOnceMuchHasChanged() {
        var watch = MemoryWatch()
        let changes = [
            (999, 9_999), (1_000, 9_999), (1_000, 9_999), (1, 19_998), (0, 19_998), (0, 29_997), (0, 29_998),
            (0, 29_998),
        ]
        let due = changes.map { watch.isReleaseDue(connections: $0, removedItems: $1) }
        #expect(due == [false, true, false, false, true, false, true, false])
    }
}
