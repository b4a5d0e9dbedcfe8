/// Targets for arbitrary bytes: the fuzzer runs them for hours, the tests run them with the inputs in
/// `Tests/Data/Corpus`.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// Streams of bytes cut into frames, and messages in both directions.
    case frames
    /// Deltas, and the laws of their algebra.
    case deltas
    /// JSON, its forms, and questions of test vectors.
    case json
    /// URLs.
    case addresses
    /// The headers that proxies send first.
    case proxies
    /// Frames of WebSockets.
    case webSockets
    /// Lists in files, and typed text.
    case text
    /// Scripts of load tests, and the steps of their readers.
    case scripts
    /// What a client reads back from its disk.
    case journal
    /// A whole server under a program of events.
    case server
    /// A client's session under a program of events.
    case session

    /// Does everything with the input that can be done with it. A trap is a fault too.
    ///
    /// - Throws: `Fault`.
    package func run(_ input: [UInt8]) throws {
        switch self {
        case .frames: try FrameTarget.run(input)
        case .deltas: try DeltaTarget.run(input)
        case .json: try JSONTarget.run(input)
        case .addresses: try AddressTarget.run(input)
        case .proxies: try ProxyTarget.run(input)
        case .webSockets: try WebSocketTarget.run(input)
        case .text: try TextTarget.run(input)
        case .scripts: try ScriptTarget.run(input)
        case .journal: try JournalTarget.run(input)
        case .server: try ServiceProgram.run(input)
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
