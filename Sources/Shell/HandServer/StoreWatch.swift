import EventLoop
import HandSync
import Logging

/// Looks once a second whether the store is still there. Writes would find out, but may be rare.
///
/// A store whose files are gone ends the process. One that cannot be reached may be back soon: the server is not ready meanwhile,
/// and after a while it sends its clients away, as another server may reach it.
final class StoreWatch {
    private let loop: Loop
    private let service: Service
    private let logger: Logger
    private let look: () -> @Sendable () throws -> Void
    private let end: (StoreError) -> Void
    private let timer: Timer
    private var isLooking = false
    /// Since when the store cannot be reached, in the loop's time; nil if it can.
    private var awaySince: UInt64?

    private static let interval: UInt64 = 1_000
    /// Milliseconds without a store after which clients are sent away.
    private static let patience: UInt64 = 10_000

    /// - Parameters:
    ///   - look: returns what throws if the store is not there, and runs on another thread.
    ///   - end: the store is gone for good.
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
