import HandFormats
import Testing

@Suite struct AmountTests {
    @Test(arguments: [
        (0, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (9_949, "9.9 kB"), (99_940, "99.9 kB"), (99_960, "100 kB"),
        (188_400, "188 kB"), (999_499, "999 kB"), (999_500, "1.0 MB"), (61_657_088, "61.7 MB"), (3_657_728, "3.7 MB"),
        (4_000_000_000_000_000, "4000 TB"),
    ])
    func bytesAreCountedInTheLargestUnit(number: Int, words: String) {
        #expect(Amount.bytes(number) == words)
    }

    @Test func onlyACountOfOneIsSingular() {
        #expect([0, 1, 2].map { Amount.count($0, "item") } == ["0 items", "1 item", "2 items"])
    }

    @Test func localTimesApplyTheOffset() {
        #expect(LocalTime.text(951_782_399_999, offset: 3_600) == "2000-02-29 00:59:59")
        #expect(LocalTime.text(951_782_399_999, offset: -3_600) == "2000-02-28 22:59:59")
        #expect(LocalTime.text(5, offset: -3_600) == "1970-01-01 00:00:00")
    }
}
