import HandFormats
import HandSync
import HandWire

/// What keeps the client from its server. Each kind of trouble has its own words, because each kind needs another
/// remedy.
enum Trouble: Equatable {
    case token, version, refused, tls, unknownHost, disk, unreachable

    /// Nil while nothing is known to be wrong.
    init?(_ app: AppState) {
        guard case .offline(let reason, let wait) = app.connection else { return nil }
        self =
            switch app.refusal {
            case .notAuthenticated?: .token
            case .versionNotSupported?: .version
            case _?: .refused
            case nil where wait == nil: .disk
            case nil where reason.contains("TLS: "): .tls
            case nil where reason.contains("unknown node or service"): .unknownHost
            case nil: .unreachable
            }
    }

    var words: String {
        switch self {
        case .token: "token not valid"
        case .version: "version refused"
        case .refused: "refused"
        case .tls: "no trust (TLS)"
        case .unknownHost: "host not found"
        case .disk: "disk refuses"
        case .unreachable: "offline"
        }
    }

    /// What is wrong, as a sentence without its end.
    func sentence(_ reason: String, _ app: AppState) -> String {
        // With several servers, the reason names the server that was tried.
        let place = app.server.places.count > 1 ? "" : " at \(app.server)"
        return switch self {
        case .token, .refused: "The server\(place) does not let you in: \(reason)"
        case .version: "The server\(place) speaks another version: \(reason)"
        case .tls: "The server\(place) cannot be trusted: \(reason)"
        case .unknownHost: "There is no such host\(place): \(reason)"
        case .disk: "Nothing can be written on this machine: \(reason)"
        case .unreachable: "No server answers\(place): \(reason)"
        }
    }

    /// What the person can do; nil if the client tries again by itself and there is nothing else to do.
    func advice(_ app: AppState) -> String? {
        switch self {
        case .token: "Ask whoever runs the server for a new link or token."
        case .version: nil
        case .refused, .tls, .unknownHost, .disk: "'hand doctor' says more."
        case .unreachable: app.server.isThisMachine ? "Start one: hand serve." : nil
        }
    }
}
