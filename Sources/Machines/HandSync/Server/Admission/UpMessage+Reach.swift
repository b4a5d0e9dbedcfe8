import HandCore
import HandWire

extension UpMessage {
    /// What a message is about, and the least role that may send it.
    package enum Reach: Equatable, Sendable {
        /// A message that requires no role, or that only concerns what the sender may see anyway.
        case nothing
        case server(Role)
        case list(named: String, Role)
        /// A list that the sender follows, by its number.
        case followed(ListNumber, Role)
    }

    /// A new message does not compile without its line here.
    package var reach: Reach {
        switch self {
        // A deleted list has no name. Whether the sender may undelete it is checked when it is found.
        case .hello, .ping, .unsubscribe, .lists, .deletedLists, .undelete: .nothing
        // The role on a list that is asked for by its log id is checked when the list is found.
        case .subscribe(let subscribe): subscribe.name.isEmpty ? .nothing : .list(named: subscribe.name, .read)
        case .submit(let submission): .followed(submission.list, submission.delta.neededRole)
        case .presence(let list, _): .followed(list, .read)
        case .create: .server(.write)
        case .delete(_, let name), .rename(_, let name, _): .list(named: name, .admin)
        case .history(_, let name, _, _): .list(named: name, .read)
        case .fetch(_, let name, _): .list(named: name, .read)
        case .excerpt(let asked): .list(named: asked.name, .read)
        }
    }
}

extension Delta {
    /// An insertion requires the role append, if it leaves the other items as they are, in their order. Any other edit
    /// requires the role write.
    fileprivate var neededRole: Role {
        let onlyInserts = components.allSatisfy {
            switch $0 {
            case .keep, .insert: true
            case .edit, .delete, .pick, .drop: false
            }
        }
        return onlyInserts ? .append : .write
    }
}
