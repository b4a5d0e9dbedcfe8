package enum LocalTime {
    /// Returns a text such as `2026-11-21 14:05:09` in a time zone `offset` seconds ahead of UTC.
    package static func text(_ milliseconds: UInt64, offset: Int) -> String {
        let local = Int64(clamping: milliseconds) + Int64(offset) * 1_000
        let text = JSON.date(milliseconds: UInt64(max(0, local))).utf8.prefix { $0 != UInt8(ascii: ".") }
        return String(decoding: text.map { $0 == UInt8(ascii: "T") ? 0x20 : $0 }, as: UTF8.self)
    }
}
