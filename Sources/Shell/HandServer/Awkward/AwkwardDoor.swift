import EventLoop
import HandSync

/// Puts an awkward wire on each connection of a server.
final class AwkwardDoor {
    private let loop: Loop
    private let awkwardness: Awkwardness
    /// All channels that are not closed yet.
    private var channels: [AwkwardChannel] = []

    init(_ loop: Loop, _ service: Service, seed: UInt64) {
        self.loop = loop
        awkwardness = Awkwardness(service, seed: seed)
    }

    func around(_ stream: any Channel) -> any Channel {
        let channel = AwkwardChannel(loop, stream, awkwardness)
        channels.append(channel)
        return channel
    }

    /// Processes input of clients and guests. Returns whether there was any.
    func pump() -> Bool {
        var hasWorked = awkwardness.pump()
        for channel in channels where channel.advance() { hasWorked = true }
        channels.removeAll { $0.isClosed }
        return hasWorked
    }
}
