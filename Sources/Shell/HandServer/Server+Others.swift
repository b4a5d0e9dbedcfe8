import FoundationEssentials
import Glibc
import HandSync
import Logging

/// How other servers of the same store learn about this server.
extension Server {
    /// Returns a function that makes a heartbeat, or nil if the store is not shared.
    func heartbeat(_ endpoints: [ServerConfiguration.Endpoint]) -> (() -> @Sendable () throws -> Void)? {
        guard let servers = driver.store as? any SharedServers else { return nil }
        let address = ([Self.host] + endpoints.map { "\($0)" }).joined(separator: " ")
        return { [unowned self, id = driver.serverID] in
            let report = (try? JSONEncoder().encode(report)).map { [UInt8]($0) } ?? []
            return { try servers.heartbeat(of: id, at: address, report: report) }
        }
    }

    /// Notifies the other servers, so that they need not wait until this server's heartbeats are missing.
    func leave() {
        guard let servers = driver.store as? any SharedServers, storeWatch?.isAway != true else { return }
        do { try servers.leave(driver.serverID) } catch {
            logger.warning("the other servers were not notified", metadata: ["error": "\(error)"])
        }
    }

    /// This machine's host name.
    static var host: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "?" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
