import HandSync
import HandWire

/// The file stores which roles are bound to which lists, so that the binding survives a restart.
extension AccessWatch {
    /// Binds roles, after reading the file if it has changed.
    func bindRoles() -> @Sendable () throws -> Set<String> {
        _ = refresh()
        if hasUnkeptRoles, let problem = keepRoles() { return { throw problem } }
        return { [awaited = driver.access.awaitedLists] in awaited }
    }

    func called(_ logID: UInt64, _ name: String?) {
        guard driver.access.called(LogID.list(logID), name) else { return }
        hasUnkeptRoles = true
        _ = keepRoles()
    }

    /// Stores the binding of roles to lists in the file if the binding is new. If storing fails, the binding stays in
    /// memory, and storing is tried again.
    func keepRoles() -> StoreError? {
        guard file.isThere else { return nil }
        do {
            guard try driver.access.bind(to: driver.store) || hasUnkeptRoles else { return nil }
            hasUnkeptRoles = true
            let book = try file.change(waitsLong: false) { book in
                _ = try book.bind(to: driver.store)
                return book
            }
            // Somebody may have changed the file since it was read.
            enforce(book)
            hasUnkeptRoles = false
            hasWritten()
            return nil
        } catch {
            driver.logger.error("access rules not written", metadata: ["error": "\(error)"])
            return .failed("the access rules cannot be written: \(error)")
        }
    }
}

extension AccessBook {
    /// Binds roles to the lists of a store, and updates all names of lists. Returns whether anything changed.
    mutating func bind(to store: any CommitStore) throws -> Bool {
        try bind({ try store.list(named: $0).map { LogID.list($0.logID) } }, store.name(of:))
    }
}
