import EventLoop
import Glibc
import HandApp
import HandScreens

/// The terminal, and the limits of the system.
enum EnvironmentCheck {
    static func all() -> [Diagnosis] { [terminal(), text(), files()] }

    private static func terminal() -> Diagnosis {
        guard isatty(1) == 1 else { return .ok("terminal", "the output is not a terminal; hand open needs one") }
        let facts = Terminal.facts()
        guard let count = facts.colors else {
            return .problem(
                "terminal", "the system does not know a terminal '\(facts.kind)' ($TERM)",
                do:
                    "set TERM to your terminal's name, such as xterm-256color, or install its description (Debian: ncurses-term)"
            )
        }
        if !facts.isScreen {
            let finding = TerminalError.notAScreen(facts.kind).description
            return .problem("terminal", finding, do: "export TERM=xterm-256color")
        }
        let size = facts.size.map { "\($0.columns) × \($0.rows)" } ?? "of unknown size"
        let colors = Terminal.colorsAreRefused ? "no colours, as NO_COLOR is set" : "\(count) colours"
        let finding = "\(facts.kind), \(size), \(colors)"
        if let size = facts.size, size.columns < 40 || size.rows < 8 {
            return .warning("terminal", finding, do: "make it larger: below 40 × 8, little of a list is visible")
        }
        return .ok("terminal", finding)
    }

    private static func text() -> Diagnosis {
        setlocale(LC_ALL, "")
        let encoding = nl_langinfo(Int32(CODESET)).map { String(cString: $0) } ?? "unknown"
        if encoding == "UTF-8" { return .ok("text", "UTF-8") }
        // LC_ALL comes before LANG.
        let isForced = getenv("LC_ALL").map { $0.pointee != 0 } ?? false
        let way = (isForced ? "unset LC_ALL, then " : "") + "export LANG=C.UTF-8"
        return .warning(
            "text", "the locale's encoding is \(encoding), but hand writes UTF-8",
            do: "if letters look wrong: \(way), and set the terminal to UTF-8")
    }

    private static func files() -> Diagnosis {
        let openFiles = ProcessLimits.raiseOpenFiles()
        let finding = "at most \(openFiles): about as many connections as a server here can have"
        if openFiles >= 4_096 { return .ok("open files", finding) }
        return .warning(
            "open files", finding,
            do: "raise the limit before hand serve: ulimit -n 65536; or LimitNOFILE= in a systemd unit")
    }
}
