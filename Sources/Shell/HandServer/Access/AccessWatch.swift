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
        world.access = try file.read()
        try finishRenamings()
        world.refreshAccess = { [unowned self] in refresh() }
        timer.start(after: Self.interval, repeating: Self.interval) { [unowned self] in look() }
    }

    /// A server that ended while it renamed a list may have done so or not: the store says.
    private func finishRenamings() throws {
        let unfinished = world.access.unfinishedRenamings
        guard !unfinished.isEmpty else { return }
        func isThere(_ name: String) throws -> Bool { try world.store.list(named: name) != nil }
        let done = try unfinished.map { try isThere($0.new) && !isThere($0.list) }
        world.access = try file.change { book in
            for (renaming, isDone) in zip(unfinished, done) {
                book.didRename(renaming.list, to: renaming.new, isDone: isDone)
            }
            return book
        }
    }

    private func look() {
        let (last, now) = (looked, Date.now)
        looked = now
        world.keepRenamings()
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
