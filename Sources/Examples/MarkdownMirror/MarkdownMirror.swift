import Foundation
import HandClient
import HandCore
import HandSync

/// Keeps a list and a Markdown checklist in sync, whichever is edited.
@main
enum MarkdownMirror {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 4 else {
            FileHandle.standardError.write(Data("usage: markdown-mirror ADDRESS LIST FILE\n".utf8))
            exit(2)
        }
        do { try await mirror(arguments[1], arguments[2], URL(filePath: arguments[3])) } catch {
            FileHandle.standardError.write(Data("markdown-mirror: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func mirror(_ address: String, _ name: String, _ file: URL) async throws {
        let client = try HandClient(
            ClientConfiguration(address: address, person: "markdown-mirror", program: "markdown-mirror/1"))
        try await client.connected()
        let list = try await client.open(name)
        // What the file contains, unless somebody has edited it since.
        var shown = try await list.live().view
        while try !write(shown, to: file, over: read(file)) {}
        var last: [String] = []
        while true {
            try await Task.sleep(for: .milliseconds(100))
            let lines = try read(file)
            // An editor may empty the file or move it away before it writes, and may write in several steps.
            let isWritten = lines == last && (!lines.isEmpty || shown.isEmpty)
            last = lines
            guard isWritten else { continue }
            if lines != Checklist.lines(of: shown) {
                let (base, edit) = (shown, Checklist.edit(of: shown, into: lines))
                // Others' edits since the file was written stay: the file's edit is transformed over them.
                try await list.edit { state in
                    edit.transformed(over: Delta(from: base, to: state.view), as: .later)
                }
                shown = try base.applying(edit)
            }
            let view = try await list.state().view
            if try Checklist.lines(of: view) == lines || write(view, to: file, over: lines) { shown = view }
        }
    }

    /// Returns the file's lines; none if there is no file.
    private static func read(_ file: URL) throws -> [String] {
        do {
            return try String(contentsOf: file, encoding: .utf8).split { ["\n", "\r\n"].contains($0) }
                .map(String.init)
        } catch CocoaError.fileReadNoSuchFile {
            return []
        }
    }

    /// Replaces the file, unless its lines are no longer `lines`. Returns whether it did.
    private static func write(_ list: Hand, to file: URL, over lines: [String]) throws -> Bool {
        let (other, fresh) = (file.appendingPathExtension("new"), Checklist.lines(of: list))
        try Data(fresh.map { $0 + "\n" }.joined().utf8).write(to: other)
        defer { unlink(other.path) }
        // Without a file, nothing can be overwritten.
        if lines.isEmpty, link(other.path, file.path) == 0 { return true }
        // Somebody may save the file at any moment. So the two files are exchanged, and the former contents are checked
        // afterwards.
        guard try read(file) == lines, try exchange(other, file) else { return false }
        if try read(other) == lines { return true }
        // Puts back what somebody saved. If they have saved once more since then, the newer contents stay.
        if try exchange(other, file), try read(other) != fresh { _ = try exchange(other, file) }
        return false
    }

    /// Exchanges two files atomically; returns false if one is missing. Swift's module of the C library lacks the
    /// function.
    private static func exchange(_ one: URL, _ other: URL) throws -> Bool {
        typealias Rename = @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32
        let exchange: UInt32 = 2  // RENAME_EXCHANGE
        guard let function = dlsym(nil, "renameat2") else { throw POSIXError(.ENOSYS) }
        // The type above is that of the C library's header.
        let rename = unsafeBitCast(function, to: Rename.self)
        if rename(AT_FDCWD, one.path, AT_FDCWD, other.path, exchange) == 0 { return true }
        guard errno == ENOENT else { throw POSIXError(POSIXError.Code(rawValue: errno) ?? .EIO) }
        return false
    }
}
