import EventLoop
import Glibc
import Synchronization

/// The signal that has arrived, or 0. Global, because a signal's handler cannot capture anything.
private let interruption = Atomic<Int32>(0)

/// Signals that ask a command to stop. The first one is noted, the second one ends the process.
enum Interruption {
    /// The signal that has arrived; nil if none has.
    static var signal: Int32? {
        let found = interruption.load(ordering: .relaxed)
        return found == 0 ? nil : found
    }

    /// A signal has asked the command to stop.
    struct Interrupted: Error {}

    /// Makes signals noted: a command that changes something says what became of the change, and then ends by the
    /// signal.
    static func begin() {
        var action = sigaction()
        action.sa_flags = SA_RESTART
        action.__sigaction_handler.sa_handler = { number in
            if interruption.exchange(number, ordering: .relaxed) == 0 { return }
            Glibc.signal(number, SIG_DFL)
            raise(number)
        }
        for signal in [SIGINT, SIGTERM, SIGHUP] where !isIgnored(signal) { sigaction(signal, &action, nil) }
    }

    /// Whether whoever started this process has made it ignore a signal, as nohup does.
    private static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        sigaction(signal, nil, &action)
        let handlers = [action.__sigaction_handler.sa_handler, SIG_IGN].map { unsafeBitCast($0, to: Int.self) }
        return handlers[0] == handlers[1]
    }

    /// Ends the process by the signal that has arrived, so that whoever started it knows.
    static func end() -> Never {
        let number = signal ?? SIGTERM
        Glibc.signal(number, SIG_DFL)
        // Threads that run tasks may block signals.
        Signal.unblock(number)
        raise(number)
        exit(ExitStatus.error.rawValue)
    }
}
