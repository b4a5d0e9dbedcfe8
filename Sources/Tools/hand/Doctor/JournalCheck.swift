import Files
import Foundation
import HandFormats
import HandStore
import HandSync

/// Whether this machine's copies of lists, and the edits that wait in them, can be read.
enum JournalCheck {
    static func all() -> [Diagnosis] {
        let folder = Settings.stateFolder + "/clients"
        let files = (FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []).filter {
            $0.hasSuffix(".sqlite")
        }
        var (sound, waiting, problems): (Int, [String], [Diagnosis]) = (0, [], [])
        for file in files.sorted() {
            do {
                waiting += try ClientJournal.check(at: "\(folder)/\(file)")
                sound += 1
            } catch StoreError.inUse {
                // A running command has read it.
                sound += 1
            } catch {
                problems.append(
                    .problem(
                        "kept lists", Failure(error).message,
                        do:
                            "move \(folder)/\(file) away; hand then makes a new one. Edits that waited are only in that file"
                    ))
            }
        }
        return [summary(sound, waiting)] + problems
    }

    private static func summary(_ sound: Int, _ waiting: [String]) -> Diagnosis {
        if waiting.isEmpty {
            return .ok("kept lists", "\(Amount.count(sound, "file")), sound; no edits wait to be sent")
        }
        let names = Set(waiting).sorted().joined(separator: ", ")
        return .warning(
            "kept lists", "\(Amount.count(sound, "file")), sound; edits of \(names) wait to be sent",
            do: "send them to their server with: hand sync")
    }
}
