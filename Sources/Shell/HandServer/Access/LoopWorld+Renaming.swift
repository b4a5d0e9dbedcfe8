import HandSync

/// Roles name lists. When a list gets another name they go with it: nobody loses one, and nobody has one on a list that gets
/// the old name later. The file says what is being done, so that it is finished also where the server ends in between.
extension LoopWorld {
    func willRename(_ list: String, to new: String) -> StoreError? {
        // Without a file nobody has a role on one list.
        guard let accessFile, accessFile.isThere else { return nil }
        do {
            access = try accessFile.change { book in
                book.willRename(list, to: new)
                return book
            }
            return nil
        } catch {
            return .failed("who may do what cannot be kept: \(error)")
        }
    }

    func didRename(_ list: String, to new: String, isDone: Bool) {
        guard access.unfinishedRenamings.contains(where: { $0 == (list, new) }) else { return }
        access.didRename(list, to: new, isDone: isDone)
        renamings.append((list, new, isDone))
        keepRenamings()
    }

    /// What the file says, and what it does not say yet.
    func take(_ book: AccessBook) {
        access = book
        for (list, new, isDone) in renamings { access.didRename(list, to: new, isDone: isDone) }
    }

    /// Writes down what became of renamings. Where that fails it is tried again.
    func keepRenamings() {
        guard let accessFile, !renamings.isEmpty, accessFile.isThere else { return }
        do {
            let done = renamings
            access = try accessFile.change { book in
                for (list, new, isDone) in done { book.didRename(list, to: new, isDone: isDone) }
                return book
            }
            renamings = []
        } catch {
            logger.error("who may do what was not written", metadata: ["error": "\(error)"])
        }
    }
}
