import EventLoop
import HandSync

/// Carries out a machine's effects, except connecting and sending.
package protocol MachineShell: AnyObject {
    func carryOut(_ effect: ClientMachine.Effect)
    /// Called when all effects of an event have been carried out.
    func carriedOut()
    /// Called with an event of the connection before the machine gets it.
    func heard(_ event: ServerConnection.Event)
}

extension MachineShell {
    package func heard(_ event: ServerConnection.Event) {}
}

/// A client's machine and its connection, on a loop.
package final class MachineDriver {
    package private(set) var machine: ClientMachine
    private let loop: Loop
    package weak var shell: (any MachineShell)?
    private var connection: ServerConnection?
    private var outgoing: [UInt8] = []

    /// - Parameter destinations: the destinations of the machine's servers, in order.
    package init(_ machine: ClientMachine, on loop: Loop, to destinations: [ServerConnection.Destination]) {
        self.machine = machine
        self.loop = loop
        connection = ServerConnection(loop, to: destinations) { [unowned self] in received($0) }
    }

    /// Passes an event to the machine, and carries out the effects.
    package func perform<Result>(_ body: (inout ClientMachine) throws -> Result) rethrows -> Result {
        defer {
            while let effect = machine.nextEffect() { carryOut(effect) }
            shell?.carriedOut()
        }
        return try body(&machine)
    }

    private func carryOut(_ effect: ClientMachine.Effect) {
        switch effect {
        case .connect(let target):
            connection?.connect(to: target.host, address: target.address, within: target.timeout)
        case .send(let bytes): outgoing += bytes
        case .disconnect: disconnect()
        case .keep, .takeID, .status, .list, .latency, .answer, .warning: shell?.carryOut(effect)
        }
    }

    private func received(_ event: ServerConnection.Event) {
        shell?.heard(event)
        switch event {
        case .found(let addresses): perform { $0.found(addresses: addresses) }
        case .opened: perform { $0.connected(now: loop.now) }
        case .bytes(let bytes): perform { $0.received(bytes, now: loop.now) }
        case .drained: shell?.carriedOut()
        case .lost(let reason):
            outgoing = []
            perform { $0.disconnected(reason: reason, now: loop.now) }
        case .unanswered: perform { $0.unanswered(now: loop.now) }
        }
    }

    private func disconnect() {
        outgoing = []
        connection?.close()
    }

    /// Lets the machine do what is due.
    package func tick(now: UInt64) {
        if let deadline = machine.deadline, now >= deadline { perform { $0.timer(now: now) } }
    }

    /// Sends the collected bytes, unless a write is still in progress. Returns the number of bytes sent.
    @discardableResult
    package func flush() -> Int {
        guard !outgoing.isEmpty, let connection, connection.isOpen, !connection.isWriting else { return 0 }
        let bytes = exchange(&outgoing, with: [])
        connection.write(bytes)
        return bytes.count
    }

    /// The seconds until the server's certificate expires; nil without TLS.
    package var certificateLifetime: Int? { connection?.certificateLifetime }

    package func stopReading() { connection?.stopReading() }
    package func resumeReading() { connection?.resumeReading() }
}
