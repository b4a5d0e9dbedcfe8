import HandSync

extension ServerSession {
    /// All that bytes from the socket ask for, in order. Behind a hello nothing is read.
    package mutating func effects(of bytes: [UInt8], now: UInt64) -> [Effect] {
        bytes.withUnsafeBytes { bytes in
            var effects: [Effect] = []
            var frames = received(bytes, now: now)
            while let effect = next(of: &frames) { effects.append(effect) }
            keep(frames)
            return effects
        }
    }

    /// The hello was accepted: the welcome, and all that came behind the hello.
    package mutating func welcome(author: UInt64, now: UInt64) -> [Effect] {
        guard let welcome = identified(author: author, now: now) else { return [] }
        return [welcome] + effects(of: [], now: now)
    }
}
