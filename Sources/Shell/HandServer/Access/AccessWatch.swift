import EventLoop
import Files
import Foundation
import HandSync
import Logging

/// Has what the access file says hold at once, also for those who are connected: a look at it twice a second, and before
/// somebody is refused.
final class AccessWatch {
    private let file: AccessFile
    private let loop: Loop
    private unowned let world: LoopEnvironment
    private unowned let service: Service
    private let logger: Logger
    private let timer: EventLoop.Timer
    /// What holds, and the file's state when it said so.
    private var current: AccessFile.Reading
    /// Whether there ever was a file: then its absence is not a server without rules.
    private var wasThere: Bool
    /// Why what the file says does not hold; nil if it does.
    private(set) var problem: String?
    private var looked = Date.now
    /// Whether those who are connected have yet to be held to what was read.
    private var hasNews = false

    /// Milliseconds between two looks.
    private static let interval: UInt64 = 500

    /// - Throws: `AccessFile.Failure` if the file is there and does not read.
    init(_ file: AccessFile, _ loop: Loop, _ world: LoopEnvironment, _ service: Service, _ logger: Logger) throws {
        self.file = file
        self.loop = loop
        self.world = world
        self.service = service
        self.logger = logger
        // Its owner may let a group read it.
        PrivateFile.tighten(file.path, to: 0o740)
        let remembered = file.remembered()
        wasThere = remembered != nil
        current = try file.reading(wasThere: wasThere)
        timer = EventLoop.Timer(loop)
        take(current)
        // It may have been written which lists the roles are on.
        current = try file.reading(wasThere: wasThere)
        // Before anybody is let in: it must be known when the file is gone, and this process too.
        if wasThere, let remember = file.remember, (try? remembered?.get()) != current.bytes, current.state != nil {
            report(Result { try remember(current.bytes) })
        }
        world.refreshAccess = { [unowned self] in refresh() }
        timer.start(after: Self.interval, repeating: Self.interval) { [unowned self] in look() }
    }

    /// Has what the file says hold now. Returns the fingerprint of what holds.
    func readAnew() -> String {
        look(isForced: true)
        return current.fingerprint
    }

    private func look(isForced: Bool = false) {
        let (last, now) = (looked, Date.now)
        looked = now
        if world.hasUnkeptRoles { _ = world.keepRoles() }
        refresh(isForced: isForced)
        guard hasNews || world.access.hasExpired(after: last, until: now) else { return }
        hasNews = false
        service.accessChanged()
    }

    /// Reads the file if it is another than before, until it can be read. Returns whether something else holds now.
    @discardableResult
    private func refresh(isForced: Bool = false) -> Bool {
        let fresh: AccessFile.Reading
        do {
            if !isForced, try FileState(at: file.path) == current.state { return false }
            fresh = try file.reading(wasThere: wasThere)
        } catch {
            // What held before holds on: a slip must not lock everybody out, nor let anybody in.
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
        hasNews = true
        guard !fresh.isLost else { return true }
        logger.info("access rules reloaded", metadata: ["tokens": "\(world.access.count)"])
        if let remember = file.remember {
            let bytes = fresh.bytes
            Work.submit(loop) {
                Result { try remember(bytes) }
            } then: { [weak self] in
                self?.report($0)
            }
        }
        return true
    }

    private func take(_ reading: AccessFile.Reading) {
        world.take(reading.book)
        if reading.state != nil { wasThere = true }
        guard reading.isLost else { return }
        logger.critical(
            "the access rules are missing, nobody is let in: put the file back, or see 'hand token restore --help'",
            metadata: ["file": "\(file.path)"])
    }

    private func report(_ remembering: Result<Void, any Error>) {
        guard case .failure(let error) = remembering else { return }
        logger.warning("the store does not remember the access rules", metadata: ["error": "\(error)"])
    }

    func close() { timer.close() }
}
