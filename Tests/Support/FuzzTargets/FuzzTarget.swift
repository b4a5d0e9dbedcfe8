/// What is fed with arbitrary bytes, by the fuzzer for hours and by the tests with what is kept in `Tests/Data/Corpus`.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// Streams of bytes cut into frames, and both sorts of messages.
    case frames
    /// Deltas, and the laws of their algebra.
    case deltas
    /// JSON, its forms, and questions of test vectors.
    case json
    /// URLs.
    case addresses
    /// What proxies say first.
    case proxies
    /// Lists in files, and what people type.
    case text
    /// Scripts of load tests, and steps of those that read.
    case scripts
    /// What a client reads back from its disk.
    case journal
    /// A whole server under a program of events.
    case service
    /// A client's session under a program of events.
    case session

    /// Does with the input whatever can be done with it. A trap is a fault too.
    ///
    /// - Throws: `Fault`.
    package func run(_ input: [UInt8]) throws {
        switch self {
        case .frames: try FrameTarget.run(input)
        case .deltas: try DeltaTarget.run(input)
        case .json: try JSONTarget.run(input)
        case .addresses: try AddressTarget.run(input)
        case .proxies: try ProxyTarget.run(input)
        case .text: try TextTarget.run(input)
        case .scripts: try ScriptTarget.run(input)
        case .journal: try JournalTarget.run(input)
        case .service: try ServiceProgram.run(input)
        case .session: try SessionProgram.run(input)
        }
    }
}

/// A law that does not hold.
package struct Fault: Error, CustomStringConvertible {
    package let description: String
}

func check(_ holds: Bool, _ law: @autoclosure () -> String) throws {
    if !holds { throw Fault(description: law()) }
}
