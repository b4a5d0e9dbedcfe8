internal import Glibc
import HandFormats

/// How a terminal shows a notification of the desktop. Each of the sequences is an operating system command of xterm's
/// kind; a terminal that does not know it may show nothing.
package enum NoticeStyle: Equatable, Sendable {
    /// `OSC 9`, of iTerm2, WezTerm, Ghostty and Windows Terminal.
    case message
    /// `OSC 777`, of urxvt, foot and the terminals with VTE.
    case titled
    /// `OSC 99`, of kitty.
    case kitty
    /// None: only the bell.
    case bell

    /// - Parameter kind: the terminal's kind, from $TERM.
    package init(of kind: String, _ variable: (String) -> String? = { getenv($0).map { String(cString: $0) } }) {
        let program = variable("TERM_PROGRAM") ?? ""
        self =
            if variable("TMUX") != nil || kind.hasPrefix("screen") {
                // A multiplexer would show the sequence to nobody, or to the wrong window.
                .bell
            } else if kind.contains("kitty") {
                .kitty
            } else if ["iTerm.app", "WezTerm", "ghostty"].contains(program) || variable("WT_SESSION") != nil {
                .message
            } else if kind.hasPrefix("foot") || kind.hasPrefix("rxvt") || variable("VTE_VERSION") != nil {
                .titled
            } else {
                .bell
            }
    }

    /// The sequence that shows a text; nil if there is none. Nothing in the text can end the sequence early.
    package func sequence(_ text: String) -> String? {
        let text = Printable.clean(text)
        return switch self {
        case .message: "\u{1B}]9;\(text)\u{1B}\\"
        // A semicolon would begin another field.
        case .titled: "\u{1B}]777;notify;hand;\(text.replacing(";", with: ","))\u{1B}\\"
        case .kitty: "\u{1B}]99;;\(text)\u{1B}\\"
        case .bell: nil
        }
    }
}
