import HandSync
import HandWire

/// Roles are given for names, and then bound to the lists of these names: a renamed or undeleted list keeps its roles, and another
/// list of its name does not get them. The file stores the binding, so that it survives a restart.
extension LoopEnvironment {
    /// Applies the file's rules.
    func take(_ book: AccessBook) {
        access = book
        _ = keepRoles()
    }

    /// Reads the file first if it has changed.
    func bindRoles() -> StoreError? {
        if !refreshAccess(), !hasUnkeptRoles { return nil }
        return hasUnkeptRoles ? keepRoles() : nil
    }

    func called(_ logID: UInt64, _ name: String?) {
        guard access.called(LogID.list(logID), name) else { return }
        hasUnkeptRoles = true
        _ = keepRoles()
    }

    /// Stores the binding of roles to lists in the file if it is new. If that fails, the binding stays in memory, and it is tried again.
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
