import EventLoop
import Testing

@Suite(.timeLimit(.minutes(5))) struct AddressTests {
    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1:7777"), ("0.0.0.0", "0.0.0.0:7777"), ("::1", "[::1]:7777"),
        ("2001:DB8:0:0::1", "[2001:db8::1]:7777"), ("fe80::1%lo", "[fe80::1%lo]:7777"),
    ])
    func addressesReadBack(ip: String, description: String) throws {
        let address = try SocketAddress(ip: ip, port: 7777)
        #expect(address.description == description)
        #expect(try SocketAddress(ip: address.ip, port: address.port) == address)
        #expect(try SocketAddress(ip: ip, port: 7778) != address)
    }

    /// Addresses in one IPv6 network count as one; IPv4 addresses do not, however they are written.
    @Test func sitesAreNetworksOrAddresses() throws {
        func site(_ ip: String) throws -> String { try SocketAddress(ip: ip, port: 1).site }
        #expect(try site("2001:db8:1:2::1") == site("2001:db8:1:2:ffff::9"))
        #expect(try site("2001:db8:1:2::1") != site("2001:db8:1:3::1"))
        #expect(try site("10.0.0.1") != site("10.0.0.2"))
        #expect(try site("::ffff:10.0.0.1") != site("::ffff:10.0.0.2"))
    }

    @Test func rangesContainTheirAddresses() throws {
        for (text, inside, outside) in [
            ("10.0.0.0/8", ["10.1.2.3", "::ffff:10.9.9.9"], ["11.0.0.0", "::10.0.0.1", "a00::"]),
            ("10.0.0.128/25", ["10.0.0.255"], ["10.0.0.127"]), ("192.0.2.1", ["192.0.2.1"], ["192.0.2.0"]),
            ("0.0.0.0/0", ["1.2.3.4", "::ffff:1.2.3.4"], ["::1"]), ("::/0", ["::1", "1.2.3.4"], []),
            ("2001:db8::/33", ["2001:db8:7fff::"], ["2001:db8:8000::"]), ("::1", ["::1"], ["::2", "127.0.0.1"]),
        ] {
            let range = try #require(AddressRange(text))
            for ip in inside { #expect(try range.contains(SocketAddress(ip: ip, port: 9)), "\(ip) in \(text)") }
            for ip in outside { #expect(try !range.contains(SocketAddress(ip: ip, port: 9)), "\(ip) in \(text)") }
        }
        for text in [
            "", "/", "10.0.0.0/", "10.0.0.0/33", "::/129", "10.0.0.0/-1", "10.0.0.0/+1", "10.0.0.0/8/8", "lists",
        ] {
            #expect(AddressRange(text) == nil, "\(text)")
        }
    }

    @Test func loopbackAddressesAreLocal() throws {
        for ip in ["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"] {
            #expect(try SocketAddress(ip: ip, port: 1).isLoopback, "\(ip)")
        }
        for ip in ["128.0.0.1", "0.0.0.0", "::", "::2", "::ffff:10.0.0.1", "fe80::1"] {
            #expect(try !SocketAddress(ip: ip, port: 1).isLoopback, "\(ip)")
        }
    }

    @Test(arguments: ["", "localhost", "1.2.3", "1.2.3.256", "::g", "1.2.3.4 "])
    func otherTextIsRefused(ip: String) {
        #expect(throws: UVError.invalidArgument) { try SocketAddress(ip: ip, port: 1) }
    }

    @Test func localhostIsResolved() throws {
        try withLoop { loop in
            let answers = Log<[SocketAddress]>()
            DNS.resolve(loop, host: "localhost", port: 7777) { result in
                if let addresses = try? result.get() { answers.add(addresses) }
            }
            #expect(answers.entries.isEmpty)
            loop.run()
            let addresses = try #require(answers.entries.first)
            #expect(answers.entries.count == 1)
            #expect(addresses.allSatisfy { ["127.0.0.1", "::1"].contains($0.ip) && $0.port == 7777 })
            #expect(Set(addresses).count == addresses.count)
            #expect(!addresses.isEmpty)
        }
    }

    @Test func numbersAreResolvedToThemselves() throws {
        try withLoop { loop in
            for ip in ["192.0.2.7", "2001:db8::7"] {
                DNS.resolve(loop, host: ip, port: 1) { result in
                    #expect(result.orRecord() == (try? [SocketAddress(ip: ip, port: 1)]))
                }
            }
            loop.run()
        }
    }

    @Test func aCanceledQueryIsAnsweredOnce() throws {
        try withLoop { loop in
            let answers = Log<Result<[SocketAddress], UVError>>()
            let query = DNS.resolve(loop, host: "localhost", port: 1) { answers.add($0) }
            query.cancel()
            query.cancel()
            loop.run()
            query.cancel()
            #expect(answers.entries == [.failure(.canceled)])
        }
    }

    @Test func anImpossibleNameIsALaterError() throws {
        try withLoop { loop in
            let answers = Log<Result<[SocketAddress], UVError>>()
            // Longer than a name may be, which libuv notices at once.
            DNS.resolve(loop, host: String(repeating: "a", count: 300), port: 1) { answers.add($0) }
            #expect(answers.entries.isEmpty)
            loop.run()
            #expect(answers.entries.count == 1)
            #expect(throws: UVError.self) { try answers.entries.first?.get() }
        }
    }
}
