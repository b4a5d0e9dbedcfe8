import Foundation
import TOMLKit

/// One thing that an operator can set for 'hand serve'. Its name is the same everywhere: `--max-items` on the command line,
/// `HAND_MAX_ITEMS` in the environment, `max-items` in the configuration file.
struct ServeSetting {
    let name: String
    let value: (Serve) -> Value

    enum Value {
        case text(String?)
        case texts([String])
        case number(Int?)
        case decimal(Double?)
        case flag(Bool)
    }

    init(_ name: String, _ value: @escaping (Serve) -> Value) {
        self.name = name
        self.value = value
    }

    var variable: String { "HAND_" + name.uppercased().replacing("-", with: "_") }

    static var all: [ServeSetting] {
        [
            Self("listen") { .texts($0.listen.isEmpty ? [Serve.defaultEndpoint] : $0.listen) },
            Self("trust-proxy") { .texts($0.trustProxy) },
            Self("socket-permissions") { .text($0.socketPermissions.description) },
            Self("data") { .text($0.data ?? Settings.defaultDataFolder) },
            Self("durability") { .text($0.durability.rawValue) },
            Self("keep-commits") { .number($0.keepCommits) }, Self("keep-days") { .decimal($0.keepDays) },
            Self("awkward") { .number($0.awkward) },
            Self("keep-deleted") { .decimal($0.keepDeleted) },
            Self("tls-cert") { .text($0.encryption.tlsCert) }, Self("tls-key") { .text($0.encryption.tlsKey) },
            Self("tls-client-ca") { .text($0.encryption.tlsClientCa) },
            Self("insecure") { .flag($0.encryption.insecure) },
            Self("log-level") { .text($0.telling.logLevel.rawValue) },
            Self("log-format") { .text($0.telling.logFormat.rawValue) }, Self("status") { .text($0.telling.status) },
            Self("audit") { .text($0.telling.audit) }, Self("admin") { .text($0.telling.admin) },
        ]
            + LimitOptions.all.map { row in Self(row.name) { .number($0.limits[keyPath: row.option]) } }
            + TimeOptions.all.map { row in Self(row.name) { .decimal($0.times[keyPath: row.option]) } }
    }

    /// The setting in a configuration file; commented out if nothing is set.
    func line(of serve: Serve, from origin: String) -> String {
        let line: String
        switch self.value(serve) {
        case .text(let text?): line = TOMLTable([name: text]).convert()
        case .texts(let texts): line = TOMLTable([name: TOMLArray(texts)]).convert()
        case .number(let number?): line = "\(name) = \(number)"
        case .decimal(let number?): line = "\(name) = \(number)"
        case .flag(let flag): line = "\(name) = \(flag)"
        case .text(nil), .number(nil), .decimal(nil): return "# \(name) is not set"
        }
        return "\(line)  # \(origin)"
    }
}
