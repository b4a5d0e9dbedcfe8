/// Stores the access rules of a server outside the process, and applies their changes to the server.
///
/// Roles are granted for names, and then bound to the lists of these names: a renamed or undeleted list keeps its
/// roles, and another list that takes the name does not get the roles.
protocol AccessKeeper: AnyObject {
    /// Looks for new rules before a client is refused, if looking takes no time. Returns whether there are new rules.
    func refresh() -> Bool
    /// Makes roles that were given for a name roles on the list that has the name. The result is called on another
    /// thread before a name changes, and returns the names of the lists that other roles wait for; if it throws, no
    /// name changes.
    func bindRoles() -> @Sendable () throws -> Set<String>
    /// `ServerMachine.Effect.called`.
    func called(_ logID: UInt64, _ name: String?)
    /// Applies the newest rules. `then` gets their fingerprint, or the reason why they are not in force.
    func readAnew(_ then: @escaping (Result<String, AccessProblem>) -> Void)
    func close()
}

/// The reason why the newest rules are not in force.
struct AccessProblem: Error {
    let text: String
}
