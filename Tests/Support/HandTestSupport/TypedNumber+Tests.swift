import HandCore

/// Tests count and compute with numbers of every kind; the program does not.
extension TypedNumber {
    package static var max: Self { Self(rawValue: .max) }

    package init(_ number: some BinaryInteger) { self.init(rawValue: UInt64(number)) }

    package static func + (left: Self, right: UInt64) -> Self { Self(rawValue: left.rawValue + right) }
    package static func += (left: inout Self, right: UInt64) { left = left + right }
}
