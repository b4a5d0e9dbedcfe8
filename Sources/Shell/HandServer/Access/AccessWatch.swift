import EventLoop
import Foundation
import HandSync
import Logging

/// Has what the access file says hold at once, also for those who are connected: a look at it twice a second, and before
/// somebody is refused.
final class AccessWatch {
    private let file: AccessFile
    private unowned let world: LoopWorld
    private unowned let service: Service
    private let logger: Logger
    private let timer: EventLoop.Timer
    private var stamp: AccessFile.Stamp?
    private var looked = Date.now
    /// Whether those who are connected have yet to be held to what was read.
    private var hasNews = false

    /// Milliseconds between two looks.
    private static let interval: UInt64 = 500

    init(_ file: AccessFile, _ loop: Loop, _ world: LoopWorld, _ service: Service, _ logger: Logger) {
        self.file = file
        self.world = world
        self.service = service
        self.logger = logger
        timer = EventLoop.Timer(loop)
    }

    /// - Throws: `AccessFile.Failure` if the file is there and does not read.
    func start() throws {
        stamp = file.stamp
        world.take(try file.read())
        world.refreshAccess = { [unowned self] in refresh() }
        timer.start(after: Self.interval, repeating: Self.interval) { [unowned self] in look() }
    }

    private func look() {
        let (last, now) = (looked, Date.now)
        looked = now
        if world.hasUnkeptRoles { _ = world.keepRoles() }
        refresh()
        guard hasNews || world.access.hasExpired(after: last, until: now) else { return }
        hasNews = false
        service.accessChanged()
    }

    /// Reads the file if it is another than before. Returns whether something else holds now.
    @discardableResult
    private func refresh() -> Bool {
        let fresh = file.stamp
        guard fresh != stamp else { return false }
        stamp = fresh
        do {
            world.take(try file.read())
        } catch {
            // What held before holds on: a slip must not lock everybody out, nor let anybody in.
            logger.error("access rules not reloaded", metadata: ["error": "\(error)"])
            return false
        }
        logger.info("access rules reloaded", metadata: ["tokens": "\(world.access.count)"])
        hasNews = true
        return true
    }

    func close() { timer.close() }
}
