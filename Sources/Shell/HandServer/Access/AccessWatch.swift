import Disk
import EventLoop
import FoundationEssentials
import HandSync
import Logging

/// Applies changes of the access file at once, also to open connections. It checks the file twice a second, and before
/// a client is refused.
final class AccessWatch: AccessKeeper {
    let file: AccessFile
    private let loop: Loop
    unowned let driver: ServerDriver
    private let logger: Logger
    private let timer: EventLoop.Timer
    /// The rules in force, and the file's state when they were read.
    private var current: AccessFile.Reading
    /// The fingerprint of the store's copy of the rules, as far as it is known.
    private var remembered: String?
    private var isRemembering = false
    /// Whether the file ever existed. If so, a missing file does not mean the default rules.
    private var wasThere: Bool
    /// The reason why the file's rules are not in force, or nil if they are.
    private var problem: String?
    /// Whether the binding of roles to lists still has to be stored.
    var hasUnkeptRoles = false
    private var looked = Date.now
    /// Whether new rules still have to be applied to open connections.
    private var hasNews = false

    /// The milliseconds between two checks.
    private static let interval: UInt64 = 500

    /// - Throws: `FileError` if the file exists but cannot be read.
    init(
        _ file: AccessFile, _ loop: Loop, _ driver: ServerDriver, _ logger: Logger
    ) throws {
        self.file = file
        self.loop = loop
        self.driver = driver
        self.logger = logger
        // The owner may let a group read the file.
        PrivateFile.tighten(file.path, to: 0o740)
        let copy = file.remembered()
        wasThere = copy != nil
        current = try file.reading(wasThere: wasThere)
        timer = EventLoop.Timer(loop)
        driver.access = current.book
        take(current)
        // Before anybody is let in, the store keeps a copy: the next server must notice if the file is lost.
        if (try? copy?.get()) == current.bytes {
            remembered = current.fingerprint
        } else if let remember = file.remember, current.state != nil {
            report(Result { try remember(current.bytes) }, current.fingerprint)
        }
        timer.start(after: Self.interval, repeating: Self.interval) { [unowned self] in look() }
    }

    func readAnew(_ then: @escaping (Result<String, AccessProblem>) -> Void) {
        look(isForced: true)
        then(problem.map { .failure(AccessProblem(text: $0)) } ?? .success(current.fingerprint))
    }

    func refresh() -> Bool { refresh(isForced: false) }

    private func look(isForced: Bool = false) {
        let (last, now) = (looked, Date.now)
        looked = now
        _ = refresh(isForced: isForced)
        if hasUnkeptRoles { _ = keepRoles() }
        remember()
        guard hasNews || driver.access.hasExpired(after: last, until: now) else { return }
        hasNews = false
        driver.accessChanged()
    }

    /// Reads the file if it has changed. Returns whether the rules have changed.
    private func refresh(isForced: Bool) -> Bool {
        let fresh: AccessFile.Reading
        do {
            if !isForced, try FileState(at: file.path) == current.state { return false }
            fresh = try file.reading(wasThere: wasThere)
        } catch {
            // The former rules stay in force: a mistake must neither lock everybody out nor let anybody in.
            let reason = "\(error)"
            if problem != reason { logger.error("access rules not reloaded", metadata: ["error": "\(reason)"]) }
            problem = reason
            return false
        }
        problem = nil
        let isOther = fresh.fingerprint != current.fingerprint
        current = fresh
        guard isOther else { return false }
        take(fresh)
        guard !fresh.isLost else { return true }
        logger.info("access rules reloaded", metadata: ["tokens": .stringConvertible(driver.access.count)])
        return true
    }

    /// Notes that this server has written the file, so that its present rules do not count as new.
    func hasWritten() {
        if let written = try? file.reading(wasThere: true), written.book == driver.access { current = written }
    }

    /// Makes the store keep a copy of the rules. Tried again until it succeeds.
    private func remember() {
        guard let remember = file.remember, !isRemembering, current.state != nil, current.fingerprint != remembered
        else { return }
        isRemembering = true
        Work.submit(loop) { [current] in
            Result { try remember(current.bytes) }
        } then: { [weak self, current] in
            self?.isRemembering = false
            self?.report($0, current.fingerprint)
        }
    }

    /// Puts rules into force. If they are others than before, open connections learn it at the next look.
    func enforce(_ book: AccessBook) {
        if book == driver.access { return }
        driver.audit?.record(changeFrom: driver.access, to: book)
        driver.access = book
        hasNews = true
    }

    private func take(_ reading: AccessFile.Reading) {
        enforce(reading.book)
        _ = keepRoles()
        if reading.state != nil { wasThere = true }
        guard reading.isLost else { return }
        logger.critical(
            "the access rules are missing, nobody is let in: put the file back, or see 'hand token restore --help'",
            metadata: ["file": "\(file.path)"])
    }

    private func report(_ remembering: Result<Void, any Error>, _ fingerprint: String) {
        switch remembering {
        case .success: remembered = fingerprint
        case .failure(let error):
            logger.warning("the store did not save the access rules", metadata: ["error": "\(error)"])
        }
    }

    func close() { timer.close() }
}
