import Disk
import EventLoop
import FoundationEssentials
internal import Glibc
import HandFormats

/// The user's own editor, which edits a text in a temporary file.
///
/// Only the user may read the file. The file is removed when the editor has ended, unless the removal would lose what
/// the editor saved.
final class OutsideEditor {
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    private let command: String
    private let folder: String
    private let file: String
    private let given: [UInt8]
    private var process: ChildProcess?

    /// The most bytes that are read from the file; no list accepts so long a text.
    private static let maxBytes = 4 << 20
    /// The editors to try if the user has not chosen one.
    private static let usual = ["sensible-editor", "editor", "nano", "vi"]

    /// Writes the file and starts the editor on the terminal.
    ///
    /// - Parameters:
    ///   - name: the name of the file, with an extension for its contents.
    ///   - then: gets the edited text, or the reason why there is none.
    init(_ text: String, named name: String, _ loop: Loop, then: @escaping (Result<String, any Error>) -> Void) throws {
        guard let command = Self.command else {
            throw Problem(
                description: "no editor was found: set VISUAL or EDITOR to one, or install one of "
                    + Self.usual.dropFirst(2).joined(separator: " and "))
        }
        self.command = command
        // The text ends with a newline, because editors end the last line with one, too.
        given = Array((text + "\n").utf8)
        let around = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        var template = Array("\(around)/hand-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw FileError("make a folder in", around) }
        folder = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        file = folder + "/" + name
        do {
            try PrivateFile.replace(file, with: given)
            try start(loop, then)
        } catch {
            remove()
            throw error
        }
    }

    /// The editor as a shell command: other programs interpret VISUAL and EDITOR in this way. Nil if there is no
    /// editor.
    private static var command: String? {
        for name in ["VISUAL", "EDITOR"] {
            let value = ProcessInfo.processInfo.environment[name] ?? ""
            if value.contains(where: { !$0.isWhitespace }) { return value }
        }
        return usual.first(where: SystemPrograms.isInstalled)
    }

    private func start(_ loop: Loop, _ then: @escaping (Result<String, any Error>) -> Void) throws {
        // The shell that runs the editor survives the signals of the terminal's keys, which are meant for the editor.
        let script = "trap : INT QUIT; \(command) \"$@\""
        do {
            process = try ChildProcess(loop, ["/bin/sh", "-c", script, command, file]) { [self] end in
                process = nil
                then(outcome(end))
            }
        } catch {
            throw Problem(description: "the editor did not start: \(error)")
        }
    }

    /// The text that the editor has saved so far; nil if the editor has saved no text that can be read.
    var saved: String? {
        guard let bytes = try? PrivateFile.read(file, upTo: Self.maxBytes + 1)?.bytes, bytes != given,
            bytes.count <= Self.maxBytes
        else { return nil }
        return Self.text(bytes)
    }

    /// The text in a file, without the newline with which editors end the last line; nil if it is not UTF-8.
    private static func text(_ bytes: [UInt8]) -> String? {
        String(validating: bytes.last == 0x0A ? bytes.dropLast() : bytes[...], as: UTF8.self)
    }

    /// Leaves the editor because this program ends; returns a message with the file that the editor saves.
    func leave() -> String {
        process?.kill(SIGHUP)
        process?.close()
        return "the editor was still open; what it has saved is in \(file)"
    }

    // MARK: The end

    private func outcome(_ end: ChildProcess.End) -> Result<String, any Error> {
        do {
            let bytes = try PrivateFile.read(file, upTo: Self.maxBytes + 1)?.bytes
            if let failure = failure(end) {
                let isAsItWas = bytes == nil || bytes == given
                return .failure(isAsItWas ? gone(failure) : kept(failure + "; what it saved is"))
            }
            guard let bytes else { return .failure(gone("the editor has removed its file")) }
            if bytes.count > Self.maxBytes { return .failure(kept("what the editor saved is too large; it is")) }
            guard let text = Self.text(bytes) else {
                return .failure(kept("what the editor saved is not UTF-8; it is"))
            }
            remove()
            return .success(text)
        } catch {
            return .failure(kept("what the editor saved cannot be read (\(error)); it is"))
        }
    }

    private func failure(_ end: ChildProcess.End) -> String? {
        let name = "the editor '\(Printable.clean(command))'"
        return switch end {
        case .status(0): nil
        case .status(126): "\(name) cannot be run"
        case .status(127): "\(name) was not found; set VISUAL or EDITOR to one that is there"
        // The shell's status for a program that a signal ended.
        case .status(let status) where status > 128: "\(name) was ended by signal \(status - 128)"
        case .status(let status): "\(name) ended with status \(status)"
        case .signal(let signal): "\(name) was ended by signal \(signal)"
        }
    }

    private func gone(_ reason: String) -> Problem {
        remove()
        return Problem(description: reason + "; your text is as it was")
    }

    private func kept(_ reason: String) -> Problem { Problem(description: "\(reason) in \(file)") }

    private func remove() { try? FileManager.default.removeItem(atPath: folder) }
}
