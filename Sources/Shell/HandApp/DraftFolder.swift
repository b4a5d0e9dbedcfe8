import Disk
import FoundationEssentials
import HandFormats
import HandScreens

/// The folder with the texts that were being typed when a screen closed. Each text has a file that only the user may
/// read.
struct DraftFolder: Sendable {
    let path: String

    struct Missing: Error, CustomStringConvertible {
        let description = "this client keeps nothing on disk"
    }

    private static let ending = ".json"
    /// The most bytes that are read from a file; no list accepts so long a text.
    private static let maxBytes = 4 << 20

    /// The kept texts. A file that cannot be read stays, and is left out.
    func read() -> [KeptDraft] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.filter { $0.hasSuffix(Self.ending) }.sorted().compactMap { name in
            guard let bytes = try? PrivateFile.read(file(name), upTo: Self.maxBytes)?.bytes else { return nil }
            return try? KeptDraft(name: name, JSONValue.parse(bytes))
        }
    }

    /// Writes a text to its file. A text that was not stored yet gets a new name.
    func keep(_ draft: KeptDraft) throws {
        try PrivateFile.makeFolder(path)
        let name = draft.name ?? Hex.text(UInt64.random(in: 0...UInt64.max)) + Self.ending
        try PrivateFile.replace(file(name), with: draft.json.bytes)
    }

    func forget(_ name: String) { try? PrivateFile.remove(file(name)) }

    private func file(_ name: String) -> String { "\(path)/\(name)" }
}
