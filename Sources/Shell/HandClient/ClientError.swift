import HandCore
import HandFormats
import HandSync
import HandWire

/// The reason why a client did not do what a program asked for.
public enum ClientError: Error, Equatable, Sendable {
    /// The server was not reached, or the connection was lost before it answered.
    case unreachable(String)
    /// A request that changes the server's lists was sent, and the answer did not come: whether the server has made the
    /// change is not known.
    case outcomeUnknown(String)
    /// The server refused a request.
    case refused(ErrorCode, String)
    /// The list of that name is not followed, as edits wait on this machine for the list that had the name before.
    case editsWait(list: String, String)
    /// The edit does not fit the present list, the list's rules do not allow it, or it is too large to be sent as one.
    case notMade(Replica.EditError)
    /// The server rejected the edit; it is undone.
    case rejected(Rejection)
    /// The edit was made, but could not be written to disk; it is lost when this program ends.
    case notKept(String)
    /// The client did not start: another program uses its journal, or the journal cannot be read or written.
    case notStarted(String)
    /// The client was closed.
    case closed
    /// The address is malformed.
    case badAddress(String)
}

extension ClientError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreachable(let reason): "the server cannot be reached: \(reason)"
        case .outcomeUnknown(let reason): "it is not known yet whether the server has done this: \(reason)"
        case .refused(_, let message), .editsWait(_, let message): message
        case .notMade(.violation(let violation)): "\(Rejection.violation(violation))"
        case .notMade(.misfit(.tooFewItems(let reach, let count))):
            "\(Rejection.doesNotFit(reach: reach, count: count))"
        case .notMade(.misfit(.change(.fieldsDoNotExist(let fields, let kind), _))):
            "an item of kind \(kind.name) has no \(fields.words.joined(separator: ", "))"
        case .notMade(.misfit(.change(.text(let error), _))): "\(error)"
        case .notMade(.tooLarge(let bytes, let limit)):
            "the edit has about \(bytes) bytes; at most \(limit) can be sent as one. Divide it."
        case .rejected(let reason): "\(reason)"
        case .notKept(let reason), .notStarted(let reason), .badAddress(let reason): reason
        case .closed: "the client was closed"
        }
    }
}

extension ClientError {
    /// The last event of a list that ends for this reason; nil if it ends without an event.
    var lastEvent: ListEvent? {
        switch self {
        case .refused(let code, let message): .refused(code, message)
        case .editsWait(_, let message): .editsWait(message)
        case .unreachable, .outcomeUnknown, .notMade, .rejected, .notKept, .notStarted, .closed, .badAddress: nil
        }
    }
}
