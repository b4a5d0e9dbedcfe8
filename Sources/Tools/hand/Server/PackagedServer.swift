import FoundationEssentials
import Glibc

/// The server that the package installs.
///
/// The server's operator is root or the server's own user. The commands of these two users are about this server,
/// unless the user has set up another server.
enum PackagedServer {
    static let configuration = "/etc/hand/serve.toml"
    static let data = "/var/lib/hand"
    private static let user = "hand"
    /// Each of these variables names another server's data or configuration.
    private static let others = ["HAND_DATA", "HAND_CONFIG", "XDG_STATE_HOME", "XDG_CONFIG_HOME"]

    static let rule = """
        If root or the user hand names no other server (by --config, --data, $HAND_CONFIG, $HAND_DATA, $XDG_CONFIG_HOME, \
        $XDG_STATE_HOME or ~/.config/hand/serve.toml), these settings come from \(configuration), which the package installs, and \
        the lists are in \(data) unless that file says otherwise. The commands of a server's operator (admin, backup, recover, \
        share, store, token, top, verify) use the same settings.
        """

    /// Whether the commands of a server's operator are about this server, and 'hand serve' runs it.
    static func isMeant(_ environment: [String: String]) -> Bool {
        let files = FileManager.default
        return (geteuid() == 0 || getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } == user)
            && others.allSatisfy { environment[$0, default: ""].isEmpty }
            && !files.fileExists(atPath: Settings.serveFile) && files.fileExists(atPath: configuration)
    }
}
