import HandApp
import Testing

/// How each terminal is told to show a notification.
@Suite struct NoticeStyleTests {
    static let rows: [(String, [String: String], NoticeStyle)] = [
        ("xterm-kitty", [:], .kitty), ("xterm-256color", ["TERM_PROGRAM": "iTerm.app"], .message),
        ("xterm-256color", ["TERM_PROGRAM": "WezTerm"], .message),
        ("xterm-ghostty", ["TERM_PROGRAM": "ghostty"], .message),
        ("xterm-256color", ["WT_SESSION": "1"], .message), ("foot", [:], .titled), ("rxvt-unicode", [:], .titled),
        ("xterm-256color", ["VTE_VERSION": "7600"], .titled), ("xterm-256color", [:], .bell),
        ("screen-256color", ["VTE_VERSION": "7600"], .bell),
        ("tmux-256color", ["TMUX": "x", "TERM_PROGRAM": "WezTerm"], .bell),
    ]

    @Test(arguments: rows)
    func terminalsHaveTheirStyle(kind: String, variables: [String: String], style: NoticeStyle) {
        #expect(NoticeStyle(of: kind) { variables[$0] } == style)
    }

    /// Others' text cannot end the sequence, nor begin another field.
    @Test func othersTextStaysText() {
        let evil = "a;b\u{1B}\\\u{7}\u{9C}c"
        func sequence(_ kind: String, _ variables: [String: String] = [:]) -> String? {
            NoticeStyle(of: kind) { variables[$0] }.sequence(evil)
        }
        let clean = "a;b\u{FFFD}\\\u{FFFD}\u{FFFD}c"
        #expect(sequence("xterm-kitty") == "\u{1B}]99;;\(clean)\u{1B}\\")
        #expect(sequence("x", ["WT_SESSION": "1"]) == "\u{1B}]9;\(clean)\u{1B}\\")
        #expect(sequence("foot") == "\u{1B}]777;notify;hand;\(clean.replacing(";", with: ","))\u{1B}\\")
        #expect(sequence("xterm") == nil)
    }
}
