import EventLoop
import Foundation
import HandCore
import HandWire

extension Attack {
    /// Attackers that only want to bring the server down, or slow it down for others.
    static let brutes = [
        Attack("frames that are too long", expecting: ["frameTooLarge", "malformedMessage"]) { range, outcome in
            // Lengths before the hello: two kilobytes, a gigabyte, the largest possible length, and a length that does
            // not end.
            for head in [[0x80, 0x10], [0x80, 0x80, 0x80, 0x80, 0x04], Self.longest, Self.endless] {
                let client = try range.client()
                client.send(head + [UInt8](repeating: 1, count: 4_096))
                outcome.note(try client.rest())
            }
            for head in [[0x80, 0x80, 0x80, 0x08], Self.longest, Self.endless] {
                let client = try range.client()
                _ = try client.hello(700, token: range.tokens["writer"])
                client.send(head + [UInt8](repeating: 1, count: 4_096))
                outcome.note(try client.rest())
            }
        },
        Attack("messages that ask for more than they bring", expecting: ["malformedMessage"]) { range, outcome in
            let before = range.residentBytes
            for type in UInt8(0)...12 {
                // Each field claims that quintillions follow.
                for filler in [Self.longest, [0xFF, 0xFF, 0xFF, 0xFF, 0x0F], [0xFF, 0xFF, 0x03]] {
                    let client = try range.client()
                    _ = try client.hello(710, token: range.tokens["writer"])
                    client.send(Frame.around([type] + (0..<40).flatMap { _ in filler }))
                    client.send(Frame.around([200]))
                    outcome.note(try client.rest())
                }
            }
            outcome.expect(range.residentBytes - before < 64 << 20, "memory grew by \(range.residentBytes - before)")
        },
        Attack("names of combining marks", expecting: ["noSuchList", "badListName"]) { range, outcome in
            let client = try range.client()
            _ = try client.hello(715, token: range.tokens["writer"])
            let long = "a" + String(repeating: "\u{301}\u{323}", count: 250_000)
            var writer = WireWriter()
            writer.string(long)
            for message in everyRequest(name: "zq") {
                let body = message.frame.dropFirst().replacing([2] + "zq".utf8, with: writer.bytes)
                outcome.expect(body.count > long.utf8.count, "\(message.name) has no name")
                client.send(Frame.around(Array(body)))
                outcome.note(try client.answers(to: .ping(1)))
            }
            outcome.expect(try range.logs().utf8.count < 1 << 18, "the name is in the logs")
        },
        Attack("noise", expecting: ["malformedMessage", "notHand"]) { range, outcome in
            var random = SystemRandomNumberGenerator()
            for round in 0..<60 {
                let client = try range.client()
                if round % 2 == 0 { _ = try client.hello(720, token: range.tokens["writer"]) }
                let bytes = (0..<512).map { _ in UInt8.random(in: 0...255, using: &random) }
                client.send(Frame.around(bytes))
                client.send(Frame.around([200]))
                outcome.note(try client.rest())
            }
            for text in ["GET / HTTP/1.1\r\nHost: x\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}", "SSH-2.0-x\r\n"] {
                let client = try range.client()
                client.send(Array(text.utf8))
                outcome.note(try client.rest())
            }
        },
        Attack("one byte at a time", expecting: ["handshakeTimeout", "idleTimeout"]) { range, outcome in
            let hello = UpMessage.hello(
                .init(
                    client: ClientID(high: 0, low: 1), person: "", program: "",
                    token: range.tokens["writer"])
            ).frame
            let slow = try range.client()
            for byte in hello {
                guard slow.send([byte]) else { break }
                usleep(100_000)
            }
            outcome.note(try slow.rest())
            let half = try range.client()
            _ = try half.hello(730, token: range.tokens["writer"])
            half.send([0x80, 0x80, 0x80, 0x02, 4])
            outcome.note(try half.rest())
        },
        Attack("connections that say nothing", expecting: ["handshakeTimeout"]) { range, outcome in
            let most = min(range.crowd, ProcessLimits.raiseOpenFiles() - 200)
            var clients: [RawClient] = []
            for _ in 0..<most { if let client = try? range.client(timeout: 30) { clients.append(client) } }
            outcome.expect(clients.count > most / 2, "only \(clients.count) connections were accepted")
            for client in clients { outcome.note(try client.rest()) }
        },
        Attack("more and more requests", expecting: ["slowedDown", "tooFast"]) { range, outcome in
            let client = try range.client()
            _ = try client.hello(740, token: range.tokens["flooder"])
            let frame = UpMessage.fetch(request: 1, name: AttackRange.list, revision: nil).frame
            let many = (0..<64).flatMap { _ in frame }
            let deadline = ContinuousClock.now + .seconds(60)
            // The answers are read, so that only the number of requests is too high.
            while ContinuousClock.now < deadline, client.send(many) {
                var over = false
                for _ in 0..<64 * 2 {
                    guard let message = try client.next() else {
                        over = true
                        break
                    }
                    outcome.note([message])
                }
                if over { break }
            }
            outcome.note((try? client.rest()) ?? [])
        },
        Attack("answers that nobody reads", expecting: []) { range, outcome in
            let before = range.residentBytes
            let clients = try (0..<20).map { _ in try range.client(timeout: 1) }
            for (index, client) in clients.enumerated() {
                _ = try client.hello(800 + UInt64(index), token: range.tokens["root"])
                // Sends until the server stops reading.
                let frame = UpMessage.fetch(request: 1, name: AttackRange.list, revision: nil).frame
                for _ in 0..<40 { guard client.send((0..<1_000).flatMap { _ in frame }) else { break } }
            }
            let grown = range.residentBytes - before
            outcome.expect(grown < 128 << 20, "memory grew by \(grown) bytes")
        },
    ]

    /// The largest number that a varint can hold, and one that never ends.
    private static let longest: [UInt8] = [UInt8](repeating: 0xFF, count: 9) + [0x01]
    private static let endless = [UInt8](repeating: 0x80, count: 64)
}
