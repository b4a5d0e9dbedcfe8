import Disk
import FoundationEssentials
import Glibc

/// Whether hand can write where it keeps settings, copies of lists, edits that wait, and a server's lists. The check
/// tries to write, because a disk may be full or may have become read-only.
enum FoldersCheck {
    private struct Place {
        let folder: String
        let contents: String
        /// The variable that names another folder.
        let variable: String
    }

    static func all() -> [Diagnosis] {
        let places = [
            Place(
                folder: Settings.stateFolder, contents: "copies of lists, and edits that wait",
                variable: "XDG_STATE_HOME"),
            Place(folder: Settings.configurationFolder, contents: "settings and contexts", variable: "XDG_CONFIG_HOME"),
            Place(folder: FileManager.default.temporaryDirectory.path, contents: "temporary files", variable: "TMPDIR"),
        ]
        let problems = (places + store()).compactMap(check)
        if !problems.isEmpty { return problems }
        return [.ok("folders", places.map(\.folder).joined(separator: ", ") + " can be written")]
    }

    /// The folder of a server's lists on this machine, if there is one that this user may write.
    private static func store() -> [Place] {
        let folder = ProcessInfo.processInfo.environment["HAND_DATA"] ?? Settings.stateFolder + "/server"
        guard access(folder + "/hand.sqlite", W_OK) == 0 else { return [] }
        return [Place(folder: folder, contents: "the lists of a server on this machine", variable: "HAND_DATA")]
    }

    private static func check(_ place: Place) -> Diagnosis? {
        // A missing folder is made in the nearest folder above it that exists.
        var there = place.folder
        while !FileManager.default.fileExists(atPath: there), there != "/" {
            there = URL(filePath: there).deletingLastPathComponent().path
        }
        do {
            try PrivateFile.expectUsable(there + "/hand-doctor")
            try PrivateFile.expectRoom(in: there)
            return nil
        } catch {
            let way =
                switch error.code {
                case ENOSPC, EDQUOT:
                    "make room there (see: df -h \(there); df -i \(there)), or set $\(place.variable) to a folder on another disk"
                case EROFS: "make the disk writable, or set $\(place.variable) to a folder that can be written"
                default:
                    "make \(there) a folder that you may write (see: ls -ld \(there)), or set $HOME or $\(place.variable) "
                        + "to one"
                }
            return .problem("folders", "\(place.folder), for \(place.contents): \(error)", do: way)
        }
    }
}
