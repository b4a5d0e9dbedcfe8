import EventLoop
import FoundationEssentials
import HandSync
import HandWire
import Logging

/// Follows the access rules of servers that share a store. It checks twice a second on another thread, because the
/// store may be slow. While the store does not answer, the last known rules stay in force.
final class SharedAccessWatch: AccessKeeper {
    private let access: SharedAccess
    private let loop: Loop
    private unowned let driver: ServerDriver
    private let timer: EventLoop.Timer
    private var version = 0
    private var fingerprint = "none"
    private var problem: AccessProblem?
    private var looked = Date.now
    /// Callbacks that wait for a check that begins after their request.
    private var asking: [(Result<String, AccessProblem>) -> Void] = []
    private var isLooking = false
    /// Whether lists have names that the stored rules do not have yet.
    private var hasNewNames = false
    /// Whether the rules have roles for lists that do not exist yet. Such a role applies once it is bound in the store:
    /// until then, a server cannot know which list the role is for, because other servers rename lists too.
    private var isAwaitingLists = false

    /// The milliseconds between two checks.
    private static let interval: UInt64 = 500

    /// - Throws: `StoreError` if the rules cannot be read: nobody may be let in by mistake.
    init(_ access: SharedAccess, _ loop: Loop, _ driver: ServerDriver) throws {
        self.access = access
        self.loop = loop
        self.driver = driver
        timer = EventLoop.Timer(loop)
        try access.bind()
        if let reading = try access.reading(after: 0) { take(reading) }
        timer.start(after: Self.interval, repeating: Self.interval) { [unowned self] in look() }
    }

    func refresh() -> Bool { false }

    func bindRoles() -> @Sendable () throws -> Set<String> {
        { [access] in
            try access.bind()
            return try access.read().awaitedLists
        }
    }

    func called(_ logID: UInt64, _ name: String?) {
        // A name that this server changed applies here at once.
        guard driver.access.called(LogID.list(logID), name) || isAwaitingLists else { return }
        hasNewNames = true
        look()
    }

    func readAnew(_ then: @escaping (Result<String, AccessProblem>) -> Void) {
        asking.append(then)
        look()
    }

    private func look() {
        guard !isLooking else { return }
        isLooking = true
        let (waiting, binds) = (asking, hasNewNames || isAwaitingLists)
        (asking, hasNewNames) = ([], false)
        Work.submit(loop) { [access, version] in
            StoreError.catching {
                if binds { try access.bind() }
                return try access.reading(after: version)
            }
        } then: { [weak self] result in
            self?.looked(result, binds, waiting)
        }
    }

    private func looked(
        _ result: Result<SharedAccess.Reading?, StoreError>, _ binds: Bool,
        _ waiting: [(Result<String, AccessProblem>) -> Void]
    ) {
        isLooking = false
        switch result {
        case .failure(let error):
            if binds { hasNewNames = true }
            let text = "\(error)"
            if problem?.text != text {
                driver.logger.error("access rules not reloaded", metadata: ["error": "\(text)"])
            }
            problem = AccessProblem(text: text)
        case .success(let reading):
            problem = nil
            let last = looked
            looked = .now
            if let reading { take(reading) }
            if reading != nil || driver.access.hasExpired(after: last, until: looked) { driver.accessChanged() }
        }
        for answer in waiting { answer(problem.map(Result.failure) ?? .success(fingerprint)) }
        if !asking.isEmpty || hasNewNames && problem == nil { look() }
    }

    private func take(_ reading: SharedAccess.Reading) {
        let book = reading.book.ofListsThatAreThere
        if version > 0 { driver.audit?.record(changeFrom: driver.access, to: book) }
        (version, fingerprint) = (reading.version, reading.fingerprint)
        driver.access = book
        isAwaitingLists = !reading.book.awaitedLists.isEmpty
        driver.logger.info("access rules loaded", metadata: ["tokens": .stringConvertible(reading.book.count)])
    }

    func close() { timer.close() }
}
