import HandCore
import HandSync

extension ServerSession {
    /// Returns the effects of bytes from the socket, in order. Bytes after a hello are not read.
    package mutating func effects(of bytes: [UInt8], now: UInt64) -> [Effect] {
        bytes.withUnsafeBytes { bytes in
            var effects: [Effect] = []
            var frames = received(bytes, now: now)
            while let effect = next(of: &frames) { effects.append(effect) }
            keep(frames)
            return effects
        }
    }

    /// Accepts the hello. Returns the welcome and the effects of everything that came after the hello.
    package mutating func welcome(author: AuthorID, now: UInt64) -> [Effect] {
        guard let welcome = identified(author: author, now: now) else { return [] }
        return [welcome] + effects(of: [], now: now)
    }
}
