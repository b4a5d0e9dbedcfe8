import HandServer
import Testing

@Suite struct StoreAbsenceTests {
    /// Each absence is measured from its own beginning.
    @Test func eachAbsenceIsLongAfterTenSeconds() {
        var absence = StoreAbsence()
        for start in [UInt64(100), 200_000, 400_000] {
            absence.note(isThere: false, now: start)
            absence.note(isThere: false, now: start + 9_999)
            #expect(absence.isAway && !absence.isLong(now: start + 9_999), "\(start)")
            #expect(absence.isLong(now: start + 10_000), "\(start)")
            absence.note(isThere: true, now: start + 10_001)
            #expect(!absence.isAway && !absence.isLong(now: start + 60_000), "\(start)")
        }
    }
}
