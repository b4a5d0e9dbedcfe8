import Dispatch
import EventLoop
import Foundation
import Synchronization

/// A TCP proxy on this machine that behaves like a bad network: it delays, divides, holds back and cuts what it forwards.
///
/// It runs on a thread of its own; everything here may be called from anywhere, and faults can change at any time. Its
/// choices come from a seed and are the same again for the same bytes at the same times. It reads no faster than it can
/// hand on: for each direction of a connection it holds 320 KiB at most.
package final class FaultyProxy: Sendable {
    /// Where to connect instead of to the server.
    package let address: SocketAddress
    private let mailbox: Mailbox<@Sendable (Relay) -> Void>
    private let count = TrafficCount()
    /// One for each connection that was struck where its faults say.
    package let strikes: AsyncStream<Void>
    private let current: Mutex<Faults>

    /// - Throws: `UVError` if there is no loop or no port to be had.
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
                // Ends all connections.
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

    /// From now on this happens, to connections that are there as well.
    package func change(_ body: (inout Faults) -> Void) {
        current.withLock { faults in
            body(&faults)
            let faults = faults
            mailbox.post { $0.adopt(faults) }
        }
    }

    /// A good network from now on.
    package func heal() {
        change { $0 = Faults() }
    }

    /// Resets all connections, or some halfway, as the faults say.
    package func resetAll() {
        mailbox.post { $0.resetAll() }
    }

    /// New connections lead there.
    package func forward(to target: SocketAddress) {
        mailbox.post { $0.target = target }
    }

    /// The bytes that are held for each connection.
    package func heldBytes() async -> [Int] {
        await withCheckedContinuation { continuation in
            let isPosted = mailbox.post { continuation.resume(returning: $0.heldBytes) }
            if !isPosted { continuation.resume(returning: []) }
        }
    }

    /// Ends all connections and stops to listen.
    package func close() {
        mailbox.post { $0.stop() }
    }
}

/// What the new thread tells the one that started it.
private final class Started: Sendable {
    typealias Parts = (SocketAddress, Mailbox<@Sendable (Relay) -> Void>)
    let value = Mutex<Result<Parts, any Error>?>(nil)

    func take() throws -> Parts {
        guard let result = value.withLock({ $0 }) else { throw UVError.canceled }
        return try result.get()
    }
}
