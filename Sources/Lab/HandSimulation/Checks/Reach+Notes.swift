import HandSync
import HandWire

extension Reach {
    /// Notes the kind of an answer that a client has received.
    mutating func note(_ message: DownMessage) {
        switch message {
        case .subscribed(let subscribed):
            switch subscribed.start {
            case .resumed: note(Client.resumes)
            case .snapshot: note(Client.snapshot)
            case .newest: break
            }
        case .stale: note(Client.stale)
        case .acknowledged: note(Client.acknowledgement)
        case .error(let code, _, _, _, _) where !code.closes: note(code)
        default: break
        }
    }

    mutating func note(_ notice: Replica.Notice) {
        switch notice {
        case .acknowledged: note(Client.isAcknowledged)
        case .superseded(_, let loss, _): note(loss)
        case .rejected(let rejection, _, _): note(rejection)
        case .usedTwice: note(Client.isUsedTwice)
        case .diverged: note(Client.diverges)
        case .keptWords, .restored: break
        }
    }

    mutating func note(_ event: ServerNote) {
        switch event {
        case .created: note(Server.creates)
        case .deleted: note(Server.deletes)
        case .renamed: note(Server.renames)
        case .undeleted: note(Server.undeletes)
        case .loaded: note(Server.loads)
        case .unloaded: note(Server.unloads)
        case .storeFailed: note(Server.storeFails)
        case .unsettled: note(Server.isUnsettled)
        case .reloaded: note(Server.reloads)
        case .vanished: note(Server.vanishes)
        case .writeFailed: note(Server.writeFails)
        case .snapshotFailed: note(Server.snapshotFails)
        case .trimFailed: note(Server.trimFails)
        case .sweepFailed: note(Server.sweepFails)
        // A client does not always receive the reason why its connection closes.
        case .closing(_, let code): note(code)
        default: break
        }
    }
}
