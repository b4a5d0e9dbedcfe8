import EventLoop
import Testing

@Suite(.timeLimit(.minutes(5))) struct ConnectTests {
    /// Returns a port on which nobody listens.
    private func unusedAddress(_ loop: Loop) throws -> SocketAddress {
        let listener = try Listener.tcp(loop, address: .loopback()) { _ in }
        defer { listener.close() }
        return try #require(listener.localAddress)
    }

    @Test func aRefusedConnectionIsReported() throws {
        try withLoop { loop in
            let errors = Log<UVError>()
            TCP.connect(loop, to: try unusedAddress(loop)) { errors.add(failure: $0) }
            #expect(errors.entries.isEmpty)
            loop.run()
            #expect(errors.entries == [.connectionRefused])
        }
    }

    @Test func aCanceledConnectionIsReported() throws {
        try withLoop { loop in
            let errors = Log<UVError>()
            let listener = try Listener.tcp(loop, address: .loopback()) { $0.close() }
            let address = try #require(listener.localAddress)
            let attempt = TCP.connect(loop, to: address) {
                errors.add(failure: $0)
                listener.close()
            }
            attempt.cancel()
            attempt.cancel()
            #expect(errors.entries.isEmpty)
            loop.run()
            attempt.cancel()
            #expect(errors.entries == [.canceled])
        }
    }

    @Test func cancelingAfterTheAnswerDoesNothing() throws {
        try withLoop { loop in
            var connected: TCP?
            var attempt: Cancellable?
            let listener = try Listener.tcp(loop, address: .loopback()) { $0.close() }
            let address = try #require(listener.localAddress)
            attempt = TCP.connect(loop, to: address) { result in
                attempt?.cancel()
                connected = try? result.get()
                listener.close()
            }
            loop.run()
            attempt?.cancel()
            #expect(connected?.isClosing == false)
            #expect(connected?.localAddress?.ip == "127.0.0.1")
            connected?.close()
            #expect(connected?.localAddress == nil)
        }
    }

    @Test func anImmediateErrorIsReportedLater() throws {
        try withLoop { loop in
            let errors = Log<UVError>()
            // One cannot connect to a multicast address.
            let attempt = TCP.connect(loop, to: try SocketAddress(ip: "224.0.0.1", port: 1)) { errors.add(failure: $0) }
            attempt.cancel()
            #expect(errors.entries.isEmpty)
            loop.run()
            #expect(errors.entries.count == 1)
        }
    }

    @Test func missingPipesAreReported() throws {
        try withFolder { folder in
            try withLoop { loop in
                let errors = Log<UVError>()
                Pipe.connect(loop, path: folder + "/socket") { errors.add(failure: $0) }
                loop.run()
                Pipe.connect(loop, path: String(repeating: "x", count: 108)) { errors.add(failure: $0) }
                #expect(errors.entries.count == 1)
                loop.run()
                Pipe.connect(loop, path: "") { errors.add(failure: $0) }
                loop.run()
                #expect(errors.entries == [.noSuchFile, .nameTooLong, .invalidArgument])
            }
        }
    }
}

extension Log<UVError> {
    fileprivate func add<Success>(failure result: Result<Success, UVError>) {
        if case .failure(let error) = result { add(error) } else { Issue.record("connected") }
    }
}
