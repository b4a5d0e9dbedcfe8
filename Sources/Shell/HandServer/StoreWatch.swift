import EventLoop
import HandSync
import Logging

/// Checks once a second whether the store still exists and can be reached. Writes would notice a missing store, but may
/// be rare.
///
/// A store whose files are gone ends the process. A store that cannot be reached may be back soon: until then the
/// server is not ready, and after 10 seconds it sends its clients away, because another server may reach the store.
final class StoreWatch {
    private let loop: Loop
    private let driver: ServerDriver
    private let logger: Logger
    private let look: () -> @Sendable () throws -> Void
    private let timer: Timer
    private var isLooking = false
    private var absence = StoreAbsence()

    private static let interval: UInt64 = 1_000

    /// - Parameter look: returns a function that throws if the store is away. The function runs on another thread.
    init(_ loop: Loop, _ driver: ServerDriver, _ logger: Logger, look: @escaping () -> @Sendable () throws -> Void) {
        self.loop = loop
        self.driver = driver
        self.logger = logger
        self.look = look
        timer = Timer(loop)
        timer.start(after: Self.interval, repeating: Self.interval) { [unowned self] in start() }
    }

    var isAway: Bool { absence.isAway }

    private func start() {
        guard !isLooking else { return }
        isLooking = true
        let look = look()
        Work.submit(loop) {
            StoreError.catching(look)
        } then: { [weak self] in
            self?.looked($0)
        }
    }

    private func looked(_ result: Result<Void, StoreError>) {
        isLooking = false
        let wasAway = isAway
        switch result {
        case .success:
            absence.note(isThere: true, now: loop.now)
            if wasAway { logger.notice("the store can be reached again") }
        case .failure(let error):
            if error.isFinal { return driver.end(error) }
            absence.note(isThere: false, now: loop.now)
            if !wasAway { logger.error("the store cannot be reached", metadata: ["error": "\(error)"]) }
        }
        driver.machine.cutOff(absence.isLong(now: loop.now), at: driver.time)
    }

    func close() { timer.close() }
}

/// Whether, and for how long, a store cannot be reached. Times are in milliseconds.
package struct StoreAbsence: Sendable {
    /// After this time without a store, clients are sent away.
    package static let timeout: UInt64 = 10_000
    private var since: UInt64?

    package init() {}

    package var isAway: Bool { since != nil }

    /// Notes the result of a look at the store.
    package mutating func note(isThere: Bool, now: UInt64) { since = isThere ? nil : since ?? now }

    package func isLong(now: UInt64) -> Bool { since.map { now >= $0 + Self.timeout } ?? false }
}
