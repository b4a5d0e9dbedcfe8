import EventLoop
import HandSync
import Logging

/// Checks once a second whether the store still exists and can be reached. Writes would find out, but may be rare.
///
/// A store whose files are gone ends the process. A store that cannot be reached may be back soon: until then the
/// server is not ready, and after 10 seconds it sends its clients away, because another server may reach the store.
final class StoreWatch {
    private let loop: Loop
    private let service: Service
    private let logger: Logger
    private let look: () -> @Sendable () throws -> Void
    private let end: (StoreError) -> Void
    private let timer: Timer
    private var isLooking = false
    /// The loop's time since which the store cannot be reached, or nil if it can.
    private var awaySince: UInt64?

    private static let interval: UInt64 = 1_000
    /// The milliseconds without a store after which clients are sent away.
    private static let patience: UInt64 = 10_000

    /// - Parameters:
    ///   - look: returns a function that throws if the store is away. It runs on another thread.
    ///   - end: called when the store is gone for good.
    init(
        _ loop: Loop, _ service: Service, _ logger: Logger, look: @escaping () -> @Sendable () throws -> Void,
        end: @escaping (StoreError) -> Void
    ) {
        self.loop = loop
        self.service = service
        self.logger = logger
        self.look = look
        self.end = end
        timer = Timer(loop)
        timer.start(after: Self.interval, repeating: Self.interval) { [unowned self] in start() }
    }

    var isAway: Bool { awaySince != nil }

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
        switch result {
        case .success:
            if isAway { logger.notice("the store can be reached again") }
            awaySince = nil
            service.cutOff(false)
        case .failure(let error):
            if error.isFinal { return end(error) }
            if !isAway { logger.error("the store cannot be reached", metadata: ["error": "\(error)"]) }
            let since = awaySince ?? loop.now
            awaySince = since
            if loop.now >= since + Self.patience { service.cutOff(true) }
        }
    }

    func close() { timer.close() }
}
