/// A day on which a task is due, as other programs write it.
struct Day {
    /// The day as todo.txt writes it: `2026-12-01`.
    let text: String

    /// Reads a day from 1970 on, such as `2026-12-01` or `20261201`, perhaps with a time such as `T230000`. A time with
    /// `Z` is in UTC, which may be another day where the reader is.
    ///
    /// - Parameter offset: how many seconds the local time is ahead of UTC at a time, in seconds since 1970.
    init?(_ stamp: some StringProtocol, offset: (Int) -> Int) {
        let stamp = stamp.utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: ":") }
        let time = stamp.dropFirst(8)
        guard let date = Self.number(stamp.prefix(8), digits: 8), date >= 1970_01_01,
            time.isEmpty || time.first == UInt8(ascii: "T") || time.first == UInt8(ascii: " ")
        else { return nil }
        let midnight = Self.days(to: date) * 86_400
        func text(_ seconds: Int) -> String {
            String(LocalTime.text(UInt64(seconds) * 1_000, offset: offset(seconds)).prefix(10))
        }
        let written = String(JSON.date(milliseconds: UInt64(midnight) * 1_000).prefix(10))
        // Other numbers of days and months than a calendar has give another date.
        guard written.utf8.filter({ $0 != UInt8(ascii: "-") }).elementsEqual(stamp.prefix(8)) else { return nil }
        if time.last == UInt8(ascii: "Z"), let clock = Self.number(time.dropFirst().prefix(6), digits: 6) {
            self.text = text(midnight + clock / 10_000 * 3_600 + clock / 100 % 100 * 60 + clock % 100)
        } else {
            self.text = written
        }
    }

    private static func number(_ bytes: some Collection<UInt8>, digits: Int) -> Int? {
        guard bytes.count == digits, bytes.allSatisfy(\.isDigit) else { return nil }
        return bytes.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// Returns the days from 1970 to a date such as 20261201. Years are counted from March, so that the day that leap
    /// years add is the last one.
    private static func days(to date: Int) -> Int {
        let (month, day) = (date / 100 % 100, date % 100)
        let year = date / 10_000 - (month <= 2 ? 1 : 0)
        return year * 365 + year / 4 - year / 100 + year / 400 + (153 * ((month + 9) % 12) + 2) / 5 + day - 719_469
    }

    /// Returns the text of a task with the day that it is due, as todo.txt writes it: `taxes due:2026-12-01`.
    func added(to text: String) -> String {
        let tag = "due:" + self.text
        if text.split(separator: " ").contains(tag[...]) { return text }
        return text.isEmpty ? tag : "\(text) \(tag)"
    }
}
