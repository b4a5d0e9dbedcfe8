import HandClient
import HandFormats
import HandWire

extension ServerOptions {
    /// The number of lists that are asked for at the same time.
    private static let window = 4

    /// Asks for something of each list, for some lists at the same time, and uses the answers in the order of the lists
    /// until `use` returns false.
    ///
    /// A list that was deleted or renamed since its name was read, or that may not be read, is left out, and a message
    /// says so. A damaged list is left out, too, and then thrown. `--timeout` limits each answer.
    func forEach<Answer: Sendable>(
        _ lists: [DownMessage.ListEntry], of client: HandClient, at address: HandAddress,
        _ ask: @escaping @Sendable (DownMessage.ListEntry) async throws -> Answer,
        use: (DownMessage.ListEntry, Answer) -> Bool
    ) async throws {
        var asked: [Task<Answer, any Error>] = []
        var damage: ClientError?
        defer { for task in asked { task.cancel() } }
        for (index, list) in lists.enumerated() {
            while asked.count < Self.window, index + asked.count < lists.count {
                let next = lists[index + asked.count]
                asked.append(Task { try await limited(client, address) { try await ask(next) } })
            }
            do {
                if try await !use(list, asked.removeFirst().value) { return }
            } catch ClientError.refused(let code, let reason)
                where [.noSuchList, .listDeleted, .notAllowed].contains(code)
            {
                say("'\(list.name)': \(reason)")
            } catch let error as ClientError {
                guard case .refused(.listDamaged, _) = error else { throw error }
                damage = damage ?? error
            }
        }
        if let damage { throw damage }
    }
}
