import HandCore

/// The ids of load tests' items end with a mark. It tells them from the items of people, which a test must not change
/// unasked.
extension ItemID {
    private static let mark: UInt64 = 0x10AD

    static func scripted(using generator: inout some RandomNumberGenerator) -> ItemID {
        ItemID(rawValue: generator.next() & ~0xFFFF | mark)
    }

    var isScripted: Bool { rawValue & 0xFFFF == Self.mark }
}
