import HandSync
import HandWire

/// Roles are given for names, and hold for the lists that have them then: a list that is renamed or brought back takes its roles
/// along, and another list of its name does not get them. The file says which list is meant, so that this holds also for the next
/// server.
extension LoopEnvironment {
    /// What the file says.
    func take(_ book: AccessBook) {
        access = book
        _ = keepRoles()
    }

    /// What was written since into the file is heeded first.
    func bindRoles() -> StoreError? {
        if !refreshAccess(), !hasUnkeptRoles { return nil }
        return hasUnkeptRoles ? keepRoles() : nil
    }

    func called(_ logID: UInt64, _ name: String?) {
        guard access.called(LogID.list(logID), name) else { return }
        hasUnkeptRoles = true
        _ = keepRoles()
    }

    /// Writes down on which lists the roles are, where the file does not say it. What prevents that holds them in memory; it is tried
    /// again.
    func keepRoles() -> StoreError? {
        guard let accessFile, accessFile.isThere else { return nil }
        do {
            guard try access.bind(findList, store.name(of:)) || hasUnkeptRoles else { return nil }
            hasUnkeptRoles = true
            access = try accessFile.change { book in
                _ = try book.bind(findList, store.name(of:))
                return book
            }
            hasUnkeptRoles = false
            return nil
        } catch {
            logger.error("who may do what was not written", metadata: ["error": "\(error)"])
            return .failed("who may do what cannot be kept: \(error)")
        }
    }

    private func findList(_ name: String) throws -> UInt32? {
        try store.list(named: name).map { LogID.list($0.logID) }
    }
}
