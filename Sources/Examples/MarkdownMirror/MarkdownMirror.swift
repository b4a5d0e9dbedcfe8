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
            return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        } catch CocoaError.fileReadNoSuchFile {
            return []
        }
    }

    /// Replaces the file, unless it has other lines than these by now. Returns whether it did.
    private static func write(_ list: Hand, to file: URL, over lines: [String]) throws -> Bool {
        let fresh = file.appendingPathExtension("new")
        try Data(Checklist.lines(of: list).map { $0 + "\n" }.joined().utf8).write(to: fresh)
        // As late as possible: an edit of the file must not be overwritten.
        guard try read(file) == lines, rename(fresh.path, file.path) == 0 else {
            try FileManager.default.removeItem(at: fresh)
            return false
        }
        return true
    }
}
