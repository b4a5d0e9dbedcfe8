import HandCore
import HandFormats
import HandSync
import HandWire

// What a full client does with one list: each step is something that happens to it, and its answer is what the client
// sends, the list that it then shows, and what it tells its person.

extension Vectors {
    static func machine(_ question: JSONField) throws -> Members {
        var client = Follower()
        var steps: [JSONValue] = []
        for step in try question["steps"].elements("an array of steps") { steps.append(try client.answer(to: step)) }
        return [.init("steps", .array(steps))]
    }

    /// A client that follows the list "list", and the frames that it sends about that list.
    package struct Follower {
        private var machine = ClientMachine(client: ClientID(high: 0, low: 1), person: "Ada", program: "", seed: 1)
        private var name = "list"
        private var view = Hand()
        private var sent: [JSONValue] = []
        private var told: [JSONValue] = []
        /// The last submission.
        package private(set) var submission: Submission?
        /// The request of the last subscription.
        package private(set) var request: RequestNumber = 0
        /// What the client has of the list.
        package var replica: Replica? { machine.subscriptions[name]?.replica }

        package init() { machine.open(name) }

        /// - Throws: `FormatError` for a malformed step, or for an edit that does not fit what the client shows.
        package mutating func answer(to step: JSONField) throws -> JSONValue {
            (sent, told) = ([], [])
            try happens(step)
            while let effect = machine.nextEffect() { try note(effect) }
            return ["out": .array(sent), "view": JSON.items(view), "told": .array(told)]
        }

        private mutating func happens(_ step: JSONField) throws {
            if step["connected"].isPresent {
                machine.start()
                machine.connected(now: 0)
            } else if step["frame"].isPresent {
                let bytes = try step["frame"].hexBytes()
                bytes.withUnsafeBytes { machine.received($0, now: 0) }
            } else if step["edit"].isPresent {
                let isExact = step["exact"].isPresent ? try step["exact"].bool() : false
                do {
                    try machine.edit(name, try JSON.delta(from: step["edit"]), isExact: isExact)
                } catch is Replica.EditError { throw step["edit"].mismatch("an edit that the list allows") }
            } else if step["undo"].isPresent || step["redo"].isPresent {
                _ = try machine.take(step["undo"].isPresent ? .undo : .redo, name)
            } else if step["lost"].isPresent {
                machine.disconnected(reason: "lost", now: 0)
            } else {
                throw step.mismatch("one of connected, frame, edit, undo, redo, lost")
            }
        }

        private mutating func note(_ effect: ClientMachine.Effect) throws {
            switch effect {
            case .send(let frame): try note(sent: frame)
            case .disconnect: told.append(["disconnected": true])
            case .list(_, let event): note(event)
            default: break
            }
        }

        private mutating func note(sent frame: [UInt8]) throws {
            let body = frame.drop { $0 >= 128 }.dropFirst()
            let message = try Array(body).withUnsafeBytes { try UpMessage($0) }
            switch message {
            case .hello, .ping, .presence: return
            case .submit(let submission): self.submission = submission
            case .subscribe(let subscribe): request = subscribe.request
            default: break
            }
            sent.append(
                .object([.init("frame", .string(Hex.text(frame)))] + Vectors.members(of: message)))
        }

        private mutating func note(_ event: ListEvent) {
            switch event {
            case .changed(let state, let update):
                view = state.view
                told += update.notices.compactMap(Self.told)
            case .renamed(let new):
                name = new
                told.append(["renamed": .string(new)])
            case .refused(let code, _): told.append(["ended": .string("\(code)")])
            case .editsWait: told.append(["ended": "editsWait"])
            case .presence, .status, .progress: break
            }
        }

        private static func told(_ notice: Replica.Notice) -> JSONValue? {
            switch notice {
            case .acknowledged(let sequence, let revision):
                ["committed": sequence.json, "revision": JSONValue(revision)]
            case .superseded(let item, let loss, let override):
                .object(
                    [.init("overridden", JSON.id(item.id))] + JSON.members(of: loss)
                        + .init(["author": override.author, "revision": override.revision]))
            case .keptWords(let item, let loss):
                .object([.init("kept", JSON.id(item.id))] + JSON.members(of: loss))
            case .rejected(let reason, _, _): ["rejected": .string(reason.name)]
            case .usedTwice(let revision): ["usedTwice": JSONValue(revision)]
            case .diverged(let revision): ["diverged": JSONValue(revision)]
            // The protocol asks nothing to be told of it.
            case .restored: nil
            }
        }
    }
}
