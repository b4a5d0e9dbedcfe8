import Foundation
import HandClient
import HandCore
import HandSync

/// Keeps a list and a Markdown checklist in sync, whichever is edited.
@main
enum MarkdownMirror {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4 else {
            FileHandle.standardError.write(Data("usage: markdown-mirror ADDRESS LIST FILE\n".utf8))
            exit(2)
        }
        let file = URL(filePath: arguments[3])
        let client = try HandClient(
            ClientConfiguration(address: arguments[1], person: "markdown-mirror", program: "markdown-mirror/1"))
        let list = try await client.open(arguments[2])
        // What the file contains, unless somebody has edited it since.
        var shown = try await list.live().view
        try write(shown, to: file)
        while true {
            try await Task.sleep(for: .milliseconds(100))
            let lines = try read(file)
            if lines != Checklist.lines(of: shown) {
                let (base, edit) = (shown, Checklist.edit(of: shown, into: lines))
                // Others' edits since the file was written stay: the file's edit is transformed over them.
                try await list.edit { state in
                    edit.transformed(over: Delta(from: base, to: state.view), as: .later)
                }
            }
            let view = try await list.state().view
            if Checklist.lines(of: view) != lines { try write(view, to: file) }
            shown = view
        }
    }

    private static func read(_ file: URL) throws -> [String] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    private static func write(_ list: Hand, to file: URL) throws {
        let text = Checklist.lines(of: list).map { $0 + "\n" }.joined()
        try Data(text.utf8).write(to: file, options: .atomic)
    }
}
