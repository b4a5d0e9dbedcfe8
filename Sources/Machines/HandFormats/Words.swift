/// Numbers of things, in words.
public enum Words {
    /// `1 item`, `2 items`.
    public static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
