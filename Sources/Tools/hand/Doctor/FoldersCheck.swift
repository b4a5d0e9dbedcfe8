import Files
import FoundationEssentials
import HandFormats

/// Whether hand can write where it keeps settings, copies of lists, and edits that wait.
enum FoldersCheck {
    static func all() -> [Diagnosis] {
        let problems = [
            check(Settings.stateFolder, "XDG_STATE_HOME", "copies of lists, and edits that wait"),
            check(Settings.configurationFolder, "XDG_CONFIG_HOME", "settings and contexts"),
        ].compactMap { $0 }
        if !problems.isEmpty { return problems }
        return [.ok("folders", "\(Settings.stateFolder) and \(Settings.configurationFolder) can be written")]
    }

    private static func check(_ folder: String, _ variable: String, _ contents: String) -> Diagnosis? {
        // A missing folder is made in the first one above it that exists.
        var place = folder
        while !FileManager.default.fileExists(atPath: place), place != "/" {
            place = URL(filePath: place).deletingLastPathComponent().path
        }
        do {
            try PrivateFile.expectUsable(place + "/hand-doctor")
            return nil
        } catch {
            return .problem(
                "folders", "\(folder), for \(contents): \(error)",
                do:
                    "make \(place) a folder that you may write (see: ls -ld \(place)), or set $HOME or $\(variable) to one"
            )
        }
    }
}
