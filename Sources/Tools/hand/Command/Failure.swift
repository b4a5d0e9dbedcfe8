import Disk
import EventLoop
import FoundationEssentials
import Glibc
import HandApp
import HandClient
import HandCore
import HandFormats
import HandLoad
import HandServer
import HandSync
import HandWire

enum ExitStatus: Int32, CaseIterable {
    case ok = 0
    case error = 1
    case usage = 2
    case notFound = 3
    case rejected = 4
    case notAllowed = 5
    case unreachable = 6
    case conflict = 7
    case unknown = 8
    /// A load test did not reach its rate.
    case rate = 98
    /// A threshold of a load test was not met; other load tools use the same code.
    case threshold = 99

    var summary: String {
        switch self {
        case .ok: "ok"
        case .error: "error"
        case .usage: "usage"
        case .notFound: "not found"
        case .rejected: "rejected"
        case .notAllowed: "not allowed"
        case .unreachable: "unreachable"
        case .conflict: "conflict"
        case .unknown: "outcome not known"
        case .rate: "'hand load' did not reach its rate"
        case .threshold: "a threshold of 'hand load' was not met"
        }
    }
}

/// A failure of a command: its message, which is cleaned where it is printed, and its exit code.
struct Failure: Error, CustomStringConvertible {
    let status: ExitStatus
    let message: String
    /// Whether `message` describes the failure. Otherwise the argument parser describes it.
    var isOurs = true
    var description: String { message }
    /// The message with a full stop, so that more can follow.
    var sentence: String { message.hasSuffix(".") ? message : message + "." }

    init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    init(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as ClientError: self.init(error)
        case let error as ItemReference.Problem: self.init(Self.status(of: error), error.description)
        case let error as HandAddress.ParseError: self.init(.usage, error.description)
        case StoreError.damaged(let what) where Identity.isJournal(what),
            StoreError.notAStore(let what) where Identity.isJournal(what):
            let path = what.firstRange(of: ".sqlite").map { what[..<$0.upperBound] } ?? what[...]
            self.init(
                .error,
                "\(path), which has this machine's edits and copies of lists, is damaged. "
                    + "Move it away; hand then makes a new one. Edits that waited are only in that file")
        case let error as StoreError: self.init(Self.status(of: error), error.description)
        case let error as FileError: self.init(.error, error.description)
        case let error as FormatError: self.init(.error, error.description)
        case let error as UVError: self.init(.error, error.description)
        case let error as LoadError:
            let status: ExitStatus =
                switch error.reason {
                case .unreachable: .unreachable
                case .notAllowed: .notAllowed
                case .conflict: .conflict
                case .refused, .ended: .error
                }
            self.init(status, error.description)
        case is Interruption.Interrupted: self.init(.error, "interrupted")
        case let error as TerminalError: self.init(.usage, error.description)
        default:
            self.init(.usage, "")
            isOurs = false
        }
    }

    private init(_ error: ClientError) {
        let status: ExitStatus =
            switch error {
            case .unreachable: .unreachable
            case .outcomeUnknown: .unknown
            case .closed, .notKept, .notStarted: .error
            case .badAddress: .usage
            case .notMade(.violation), .notMade(.misfit): .rejected
            case .notMade: .error
            case .rejected(.revisionMoved): .conflict
            case .rejected(.notAllowed): .notAllowed
            case .rejected: .rejected
            case .refused(let code, _): Self.status(of: code)
            case .editsWait: .notFound
            }
        var advice = ""
        if case .editsWait(let list, _) = error {
            let command = Suggestion.command("sync -l", list)
            advice = ". To send them when it has its name back: \(command). To discard them: \(command) --discard"
        }
        self.init(status, error.description + advice)
    }

    private static func status(of problem: ItemReference.Problem) -> ExitStatus {
        switch problem {
        case .notARange, .tooWide: .usage
        case .notAReference, .outOfRange, .unknown, .ambiguous: .notFound
        }
    }

    private static func status(of error: StoreError) -> ExitStatus {
        switch error {
        case .noStore, .emptyDatabase, .noSuchList, .noSuchRevision: .notFound
        case .unreachable: .unreachable
        default: .error
        }
    }

    private static func status(of code: ErrorCode) -> ExitStatus {
        switch code {
        case .noSuchList, .noSuchRevision, .listDeleted: .notFound
        case .listExists: .conflict
        case .badListName, .badRules, .malformedMessage: .usage
        case .tooManyLists, .tooManySubscriptions: .rejected
        case .tooManyConnections, .notAllowed, .notAuthenticated: .notAllowed
        default: .error
        }
    }
}
