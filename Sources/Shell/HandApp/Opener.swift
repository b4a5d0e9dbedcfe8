import EventLoop
internal import Glibc

/// The system's program for web addresses.
enum Opener {
    /// Opens an address with the system's program. Returns the reason if the start of that program failed, or nil.
    static func open(_ address: String, _ loop: Loop) -> String? {
        guard SystemPrograms.isInstalled("xdg-open") else {
            return "this system has no xdg-open; the address is \(address)"
        }
        // The shell ends at once, so the opened program may run longer than this program.
        let script = "xdg-open \"$1\" </dev/null >/dev/null 2>&1 &"
        do {
            _ = try ChildProcess(loop, ["/bin/sh", "-c", script, "sh", address]) { _ in }
            return nil
        } catch {
            return "xdg-open did not start: \(error)"
        }
    }
}

/// The programs of this system.
package enum SystemPrograms {
    /// Whether a program can be run: it is in a folder of $PATH, or its name is a path.
    package static func isInstalled(_ program: String) -> Bool {
        if program.contains("/") { return canBeRun(program) }
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        return path.split(separator: ":").contains { canBeRun("\($0)/\(program)") }
    }

    /// Folders have the same right.
    private static func canBeRun(_ path: String) -> Bool {
        var facts = stat()
        return access(path, X_OK) == 0 && stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG
    }
}
