/// Why a server cannot carry out a request, or closes a connection. Numbers are never reused.
public enum ErrorCode: UInt64, CaseIterable, Sendable {
    case notHand = 1
    case versionNotSupported = 2
    case malformedMessage = 3
    case frameTooLarge = 4
    case outOfOrder = 5
    case handshakeTimeout = 6
    case idleTimeout = 7
    case tooManyConnections = 8
    case replaced = 9
    case noSuchList = 10
    case listExists = 11
    case badListName = 12
    case badRules = 13
    case tooManySubscriptions = 14
    case notSubscribed = 15
    case wrongSequence = 16
    case baseInFuture = 17
    case shuttingDown = 18
    case internalError = 19
    case noSuchRevision = 20
    case listDamaged = 21
    case tooManyLists = 22
    case listDeleted = 23
    case notAuthenticated = 24
    case notAllowed = 25
    case slowedDown = 26
    case tooFast = 27
    case closedByOperator = 28

    public enum Fault: String, Sendable {
        case client, server, nobody
    }

    /// Who caused the error.
    public var fault: Fault {
        switch self {
        case .tooManyConnections, .shuttingDown, .replaced, .listDeleted, .idleTimeout, .closedByOperator: .nobody
        case .internalError, .listDamaged: .server
        case .notHand, .versionNotSupported, .malformedMessage, .frameTooLarge, .outOfOrder, .handshakeTimeout,
            .noSuchList, .listExists, .badListName, .badRules, .tooManySubscriptions, .notSubscribed, .wrongSequence,
            .baseInFuture, .noSuchRevision, .tooManyLists, .notAuthenticated, .notAllowed, .slowedDown, .tooFast:
            .client
        }
    }

    /// Whether the server closes the connection after this error.
    public var closes: Bool {
        switch self {
        case .noSuchList, .listExists, .badListName, .badRules, .tooManySubscriptions, .notSubscribed, .noSuchRevision,
            .listDamaged, .tooManyLists, .listDeleted, .notAllowed, .slowedDown:
            false
        case .notHand, .versionNotSupported, .malformedMessage, .frameTooLarge, .outOfOrder, .handshakeTimeout,
            .idleTimeout, .tooManyConnections, .replaced, .wrongSequence, .baseInFuture, .shuttingDown, .internalError,
            .notAuthenticated, .tooFast, .closedByOperator:
            true
        }
    }

    /// Whether a client should reconnect automatically after this error.
    public var mayRetry: Bool {
        switch self {
        case .tooManyConnections, .shuttingDown, .idleTimeout, .handshakeTimeout, .internalError, .replaced, .tooFast:
            true
        case .notHand, .versionNotSupported, .malformedMessage, .frameTooLarge, .outOfOrder, .noSuchList, .listExists,
            .badListName, .badRules, .tooManySubscriptions, .notSubscribed, .wrongSequence, .baseInFuture,
            .noSuchRevision, .listDamaged, .tooManyLists, .listDeleted, .notAuthenticated, .notAllowed,
            .slowedDown, .closedByOperator:
            false
        }
    }
}
