import Foundation
import HandSync
import Logging

/// What other servers of the same store hear of this one.
extension Server {
    /// Makes what says that the server is there; nil where there are no others.
    func heartbeat(_ endpoints: [ServerConfiguration.Endpoint]) -> (() -> @Sendable () throws -> Void)? {
        guard let servers = world.store as? any SharedServers else { return nil }
        let address = ([Self.host] + endpoints.map { "\($0)" }).joined(separator: " ")
        return { [unowned self, id = world.serverID] in
            let report = (try? JSONEncoder().encode(report)).map { [UInt8]($0) } ?? []
            return { try servers.heartbeat(of: id, at: address, report: report) }
        }
    }

    /// Others need not wait until they miss this server.
    func leave() {
        guard let servers = world.store as? any SharedServers, storeWatch?.isAway != true else { return }
        do { try servers.leave(world.serverID) } catch {
            logger.warning("the other servers were not told", metadata: ["error": "\(error)"])
        }
    }

    /// What this machine calls itself.
    private static var host: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "?" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
