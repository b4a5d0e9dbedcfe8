/// Pieces of sentences that several screens say.
enum Words {
    /// `1 item`, `2 items`.
    static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
