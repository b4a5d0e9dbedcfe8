import HandScreens
import HandWire
import Testing

@Suite struct TimeTextTests {
    /// The date of today is left out; days begin at the user's midnight.
    @Test func timesOfTodayHaveNoDate() {
        var settings = AppState.Settings(
            server: .tcp(host: "host", port: 7777), person: "ada", size: Size(rows: 24, columns: 80), seed: 1)
        (settings.epoch, settings.utcOffset) = (1_764_064_800_000, 3_600)
        let state = AppState(settings)
        #expect(state.text(of: 1_764_025_200_000) == "00:00:00")
        #expect(state.text(of: 1_764_025_199_999) == "2025-11-24 23:59:59")
    }
}
