import Disk
import EventLoop
import FoundationEssentials
import Glibc
import HandApp
import HandFormats

/// A program that is run for each commit, with a text on its standard input. It has this command's output, terminal and
/// environment.
struct CommitProgram {
    private let words: [String]

    /// - Parameter words: the program, which is looked for in $PATH if it has no `/`, and its arguments. No shell reads
    ///   them.
    init(_ words: [String]) { self.words = words }

    /// Runs the program, and waits until it ends. Returns what went wrong in it; nil if it ended well.
    ///
    /// - Throws: `Failure` if there is no such program.
    func run(_ input: String) async throws -> String? {
        try await withCheckedThrowingContinuation { continuation in
            Threads.start("hand program") { continuation.resume(with: Result { try runHere(input) }) }
        }
    }

    private func runHere(_ input: String) throws -> String? {
        let pipe = try SystemPipe(blocks: true)
        let process: pid_t
        do { process = try start(pipe) } catch {
            for end in [pipe.reader, pipe.writer] { close(end) }
            throw error
        }
        close(pipe.reader)
        Self.write(input, to: pipe.writer)
        close(pipe.writer)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        if signal != 0 { return "'\(words[0])' was ended by signal \(signal)" }
        let code = status >> 8 & 0xFF
        return code == 0 ? nil : "'\(words[0])' exited with \(code)"
    }

    private func start(_ pipe: SystemPipe) throws -> pid_t {
        var streams = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&streams)
        defer { posix_spawn_file_actions_destroy(&streams) }
        posix_spawn_file_actions_adddup2(&streams, pipe.reader, 0)
        // The program reacts to signals as if the shell had started it.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (all, none) = (sigset_t(), sigset_t())
        sigfillset(&all)
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        let problem = posix_spawnp(&process, words[0], &streams, &attributes, &arguments, environ)
        if problem == 0 { return process }
        throw Failure(
            problem == ENOENT ? .notFound : .error, "cannot run '\(words[0])': \(String(cString: strerror(problem)))")
    }

    /// A program that does not read its input is no problem.
    private static func write(_ text: String, to descriptor: Int32) {
        signal(SIGPIPE, SIG_IGN)
        _ = WholeWrite.write(Array(text.utf8), to: descriptor)
    }
}

/// A notification of the desktop, shown by notify-send.
enum DesktopNotice {
    private static let program = "notify-send"
    private static let maxLines = 5

    static func expectInstalled() throws {
        guard SystemPrograms.isInstalled(program) else {
            throw Failure(.notFound, "--notify needs notify-send, which is not installed (Debian: libnotify-bin)")
        }
    }

    /// - Parameter lines: what has changed; the first lines are shown.
    static func show(_ title: String, _ lines: [String], _ server: ServerOptions) async {
        let more = lines.count > maxLines ? ["and \(lines.count - maxLines) more"] : []
        // The desktop reads the text as markup.
        let text = (lines.prefix(maxLines) + more).joined(separator: "\n")
            .replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
        let words = [program, "--app-name=hand", "--", Printable.clean(title), text]
        let problem: String?
        do { problem = try await CommitProgram(words).run("") } catch { problem = "\(error)" }
        if let problem { server.say("\(problem)") }
    }
}
