import EventLoop
import Foundation
import HandSync
import Logging

/// Has what the access file says hold at once, also for those who are connected: a look at it twice a second.
final class AccessWatch {
    private let file: AccessFile
    private unowned let world: LoopWorld
    private unowned let service: Service
    private let logger: Logger
    private let timer: EventLoop.Timer
    private var stamp: AccessFile.Stamp?
    private var looked = Date.now

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
        timer.start(after: Self.interval, repeating: Self.interval) { [unowned self] in look() }
    }

    private func look() {
        let (last, now) = (looked, Date.now)
        looked = now
        let fresh = file.stamp
        if fresh != stamp {
            stamp = fresh
            do {
                world.access = try file.read()
                logger.info("took anew who may do what", metadata: ["tokens": "\(world.access.count)"])
            } catch {
                // What held before holds on: a slip must not lock everybody out, nor let anybody in.
                return logger.error("who may do what was not taken anew", metadata: ["error": "\(error)"])
            }
        } else if !world.access.hasExpired(after: last, until: now) {
            return
        }
        service.accessChanged()
    }

    func close() { timer.close() }
}
