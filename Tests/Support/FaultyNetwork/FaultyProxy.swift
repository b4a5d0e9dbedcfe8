import Dispatch
import EventLoop
import Foundation
import Synchronization

/// A TCP proxy on this machine that behaves like a bad network: it delays, splits, holds back and cuts what it
/// forwards.
///
/// It runs on a thread of its own; everything here may be called from anywhere, and faults can change at any time. Its
/// choices come from a seed and are the same for the same bytes at the same times. It reads no faster than it can
/// forward: for each direction of a connection it holds at most 320 KiB.
package final class FaultyProxy: Sendable {
    /// The address to connect to instead of the server's.
    package let address: SocketAddress
    private let mailbox: Mailbox<@Sendable (Relay) -> Void>
    private let count = TrafficCount()
    /// Yields one element for each connection that the faults have struck.
    package let strikes: AsyncStream<Void>
    private let current: Mutex<Faults>

    /// - Throws: `UVError` if no loop or no port is available.
    package init(to target: SocketAddress, seed: UInt64, faults: Faults = Faults()) throws {
        current = Mutex(faults)
        let (strikes, strike) = AsyncStream<Void>.makeStream()
        self.strikes = strikes
        let (started, result) = (DispatchSemaphore(value: 0), Started())
        let count = count
        let thread = Thread {
            do {
                let loop = try Loop()
                let relay = try Relay(to: target, seed: seed, faults, loop, count) { strike.yield() }
                let mailbox = try Mailbox<@Sendable (Relay) -> Void>(loop) { for message in $0 { message(relay) } }
                guard let address = relay.address else { throw UVError.addressNotAvailable }
                result.value.withLock { $0 = .success((address, mailbox)) }
                started.signal()
                loop.run()
                // Closes all connections.
                loop.close()
            } catch {
                result.value.withLock { $0 = .failure(error) }
                started.signal()
            }
        }
        thread.name = "faulty proxy"
        thread.start()
        started.wait()
        (address, mailbox) = try result.take()
    }

    deinit {
        close()
    }

    package var traffic: Traffic { count.value.withLock { $0 } }
    package var faults: Faults { current.withLock { $0 } }

    /// Changes the faults from now on, also those of existing connections.
    package func change(_ body: (inout Faults) -> Void) {
        current.withLock { faults in
            body(&faults)
            let faults = faults
            mailbox.post { $0.adopt(faults) }
        }
    }

    /// Makes the network work well from now on.
    package func heal() {
        change { $0 = Faults() }
    }

    /// Resets all connections, or some of them halfway, as the faults say.
    package func resetAll() {
        mailbox.post { $0.resetAll() }
    }

    /// Makes new connections lead to `target`.
    package func forward(to target: SocketAddress) {
        mailbox.post { $0.target = target }
    }

    /// Returns the number of held bytes for each connection.
    package func heldBytes() async -> [Int] {
        await withCheckedContinuation { continuation in
            let isPosted = mailbox.post { continuation.resume(returning: $0.heldBytes) }
            if !isPosted { continuation.resume(returning: []) }
        }
    }

    /// Closes all connections and stops listening.
    package func close() {
        mailbox.post { $0.stop() }
    }
}

/// What the new thread reports to the one that started it.
private final class Started: Sendable {
    typealias Parts = (SocketAddress, Mailbox<@Sendable (Relay) -> Void>)
    let value = Mutex<Result<Parts, any Error>?>(nil)

    func take() throws -> Parts {
        guard let result = value.withLock({ $0 }) else { throw UVError.canceled }
        return try result.get()
    }
}
