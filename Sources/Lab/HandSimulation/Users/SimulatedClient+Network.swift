import HandCore
import HandSync

extension SimulatedClient {
    func connect() {
        let mine = process
        system.scheduler.after(1 + UInt64(random.next(below: 20))) { [self] in
            guard process == mine, machine != nil else { return }
            chooseServer()
            guard let link = system.connect("client \(number)", to: system.servers[home]) else {
                return perform { machine in
                    machine.disconnected(reason: "connection refused", now: system.scheduler.now)
                }
            }
            self.link = link
            watch = SubmissionWatch()
            link.down.onBytes = { [unowned self, unowned link] bytes in
                guard self.link === link else { return }
                watch.heard(bytes, &system.reach)
                perform { $0.received(bytes, now: system.scheduler.now) }
            }
            link.onLoss = { [unowned self, unowned link] reason in
                guard self.link === link else { return }
                lost(reason)
            }
            perform { $0.connected(now: system.scheduler.now) }
        }
    }

    /// With several servers, the client switches to another server from time to time.
    private func chooseServer() {
        guard system.isShared, random.next() & 1 == 0 else { return }
        home = random.next(below: system.servers.count)
    }

    func lost(_ reason: String) {
        disconnect()
        perform { machine in
            machine.disconnected(reason: reason, now: system.scheduler.now)
        }
    }

    func disconnect() {
        link?.closeByClient()
        link = nil
        outgoing = []
    }

    func rearm() {
        guard let deadline = machine?.deadline, deadline != armed else { return }
        armed = deadline
        let (mine, now) = (process, system.scheduler.now)
        system.scheduler.after(deadline > now ? deadline - now : 0) { [self] in
            guard process == mine, machine?.deadline == deadline else { return }
            armed = nil
            perform { $0.timer(now: system.scheduler.now) }
        }
    }
}
