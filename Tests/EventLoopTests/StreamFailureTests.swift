import EventLoop
import Testing

@Suite(.timeLimit(.minutes(5))) struct StreamFailureTests {
    @Test func closeDropsUnwrittenBytes() throws {
        try withLoop { loop in
            let log = Log<String>()
            try withPair(loop) { client, server in
                server.open { _ in
                    log.add("bytes")
                } onDrain: {
                    log.add("drain")
                } onEnd: { _ in
                    log.add("end")
                }
                server.write([OutputBuffer(pattern(20_000_000))])
                server.write([OutputBuffer([1])])
                server.close { log.add("closed") }
                #expect(server.write([OutputBuffer([1])]) == .dropped)
                #expect(server.pendingBytes == 0)
                server.shutdown { log.add($0 == .notConnected ? "not connected" : "shut down") }
                client.close()
            }
            loop.run()
            #expect(log.entries.sorted() == ["closed", "not connected"])
        }
    }

    @Test func aResetIsReportedAsOne() throws {
        try withLoop { loop in
            let log = Log<ChannelEnd>()
            try withPair(loop) { client, server in
                server.open { _ in
                } onEnd: { [unowned server] end in
                    log.add(end)
                    server.close()
                }
                client.reset()
                #expect(client.isClosing)
                client.reset()
            }
            loop.run()
            #expect(log.entries == [.failed(.connectionReset)])
        }
    }

    /// Also shows that `SIGPIPE` does not end the process.
    @Test func aWriteErrorIsReportedOnceAndLater() throws {
        try withLoop { loop in
            let log = Log<ChannelEnd>()
            let writer = Timer(loop)
            try withPair(loop) { client, server in
                server.open { _ in
                } onEnd: { [unowned server] end in
                    log.add(end)
                    #expect(server.write([OutputBuffer([1])]) == .dropped)
                    writer.close()
                    server.close()
                }
                // So that only a write can notice.
                server.stopReading()
                client.close()
                writer.start(after: 0, repeating: 1) { [unowned server] in
                    let before = log.entries
                    server.write([OutputBuffer(pattern(100))])
                    #expect(log.entries == before)
                }
            }
            loop.run()
            #expect(log.entries.count == 1)
            #expect([.failed(.brokenPipe), .failed(.connectionReset)].contains(log.entries.first))
        }
    }

    @Test func aWriteErrorWaitsForAHandler() throws {
        try withLoop { loop in
            let log = Log<ChannelEnd>()
            let writer = Timer(loop)
            try withPair(loop) { client, server in
                client.close()
                writer.start(after: 0, repeating: 1) { [unowned server] in
                    guard server.write([OutputBuffer([1])]) == .dropped else { return }
                    writer.close()
                    for _ in 1...2 {
                        server.open { _ in
                            Issue.record("bytes")
                        } onEnd: { end in
                            log.add(end)
                            server.close()
                        }
                    }
                    #expect(log.entries.isEmpty)
                }
            }
            loop.run()
            #expect(log.entries.count == 1)
        }
    }

    /// After a failure there is nothing more to report.
    @Test func aFailedStreamLetsGoOfItsFunction() throws {
        final class Owner {}
        try withLoop { loop in
            weak var remembered: Owner?
            let timer = Timer(loop)
            try withPair(loop) { client, server in
                let owner = Owner()
                remembered = owner
                server.open { _ in
                } onEnd: { _ in
                    withExtendedLifetime(owner) {}
                    timer.start(after: 1) { [unowned server] in
                        #expect(remembered == nil)
                        timer.close()
                        server.close()
                    }
                }
                client.reset()
            }
            loop.run()
            #expect(timer.isClosing)
        }
    }

    @Test func aFailureAnswersTheShutdown() throws {
        try withLoop { loop in
            let log = Log<UVError?>()
            try withPair(loop) { client, server in
                server.open { _ in
                } onEnd: { end in
                    #expect(end != .eof)
                }
                server.write([OutputBuffer(pattern(20_000_000))])
                // Before the stream is closed.
                server.shutdown { [unowned server] error in
                    log.add(error)
                    server.close()
                }
                // Closing with unread bytes resets the connection.
                client.open { [unowned client] _ in
                    client.close()
                } onEnd: { _ in
                }
            }
            loop.run()
            #expect(log.entries.count == 1)
            #expect(log.entries.first != .some(nil))
        }
    }
}
