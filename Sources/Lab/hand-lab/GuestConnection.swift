import EventLoop
import HandSimulation
import HandSync

/// Connects a guest to a server.
final class GuestConnection {
    private let guest: AwkwardGuest
    private let address: SocketAddress
    private let loop: Loop
    private var stream: TCP?
    private let timer: Timer

    init(_ guest: AwkwardGuest, to address: SocketAddress, _ loop: Loop) {
        (self.guest, self.address, self.loop) = (guest, address, loop)
        timer = Timer(loop)
    }

    /// Carries out what the guest's machine wants. Call this after each change of the machine.
    func work() {
        if let deadline = guest.machine.deadline, loop.now >= deadline { guest.machine.timer(now: loop.now) }
        while let effect = guest.machine.nextEffect() {
            switch effect {
            case .connect: connect()
            case .send(let bytes): stream?.write([OutputBuffer(bytes)])
            case .disconnect: leave()
            default: break
            }
        }
        guard let deadline = guest.machine.deadline else { return timer.stop() }
        timer.start(after: deadline - min(deadline, loop.now)) { [unowned self] in work() }
    }

    private func connect() {
        _ = TCP.connect(loop, to: address) { [self] result in
            switch result {
            case .success(let stream):
                self.stream = stream
                stream.open { [self] bytes in
                    guest.machine.received(bytes, now: loop.now)
                    work()
                } onEnd: { [self] end in
                    leave()
                    guest.machine.disconnected(reason: "\(end)", now: loop.now)
                    work()
                }
                guest.machine.connected(now: loop.now)
            case .failure(let error): guest.machine.disconnected(reason: "\(error)", now: loop.now)
            }
            work()
        }
    }

    private func leave() {
        stream?.close()
        stream = nil
    }
}
