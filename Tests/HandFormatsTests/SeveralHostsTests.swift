import HandFormats
import Testing

/// Addresses that name several servers with the same lists.
@Suite struct SeveralHostsTests {
    @Test(arguments: [
        ("hand://a:7777,b:7778/x", "hand://a:7777,b:7778/x"),
        ("hands://b,a/x", "hands://a:7777,b:7777/x"),
        ("HAND://b:2,b:1,a,[::1]:80,[fe80::1%25eth0]", "hand://[::1]:80,a:7777,b:1,b:2,[fe80::1%25eth0]:7777"),
        ("hand://a%2Cb,ä/x,y", "hand://a%2Cb:7777,ä:7777/x,y"),
        ("hand://a%2Cb/x", "hand://a%2Cb:7777/x"),
    ])
    func theyReadBack(text: String, written: String) throws {
        let address = try? HandAddress(text)
        // A comma is not allowed in a list's name, but it may occur in a path.
        let (server, path) = try HandAddress.parts(of: text)
        let description = ([server.description] + path).joined(separator: "/")
        #expect(description == written)
        #expect(try HandAddress.parts(of: written).server == server)
        if let address { #expect(try HandAddress(address.description) == address) }
    }

    /// The order of the hosts does not matter.
    @Test func theOrderDoesNotMatter() throws {
        let address = try HandAddress("hands://b:1,a,c/groceries#secret")
        #expect(try HandAddress("hands://c,a:7777,b:1/groceries#secret") == address)
        #expect(address.server.places == ["a:7777", "b:1", "c:7777"])
        #expect(address.server == .tls(address.server.hosts) && address.token == "secret")
        #expect(try HandAddress("hand://a,b:1,c/groceries").server != address.server)
        #expect(address.list == "groceries" && "\(address)" == "hands://a:7777,b:1,c:7777/groceries")
    }

    @Test(arguments: [
        ("hand://a,b:99999/x", "in 'b:99999', 99999 is not a port"),
        ("hand://a,/x", "the host is missing"),
        ("hand://,a", "the host is missing"),
        ("hand://a,,b/x", "the host is missing"),
        ("hand://a,[x]/x", "in '[x]', this is not a host"),
        ("hand://a,b:x/x", "in 'b:x', this is not a URL"),
        ("hand://a:1,b,a:1/x", "a:1 occurs twice"),
        ("hand://a,b,a:7777#secret", "a:7777 occurs twice"),
        ("hand://" + (1...17).map { "h\($0)" }.joined(separator: ",") + "/x", "expected at most 16 hosts, found 17"),
        ("hand+unix://,/x.sock/y", "a Unix socket has no host"),
        ("hand+unix://a,b/x.sock/y", "in 'a', a Unix socket has no host"),
        ("hand://a,b/x/y", "only a list's name may follow the server"),
        ("hand://ada:word@a/x", "an address has no user; a token follows after a '#'"),
        ("hand://a/x?y=1", "an address has no '?'"),
    ])
    func whatIsWrongIsSaid(text: String, problem: String) {
        let shown = text.prefix { $0 != "#" }
        #expect {
            try HandAddress(text)
        } throws: { error in
            "\(error)"
                == "'\(shown)': \(problem). Write hand://HOST:PORT/LIST, hands:// for TLS, or hand+unix:///PATH/TO/hand.sock/LIST."
        }
    }

    @Test func sixteenHostsAreAcceptedAndSorted() throws {
        let hosts = (1...16).map { "h\($0)" }
        let server = try HandAddress("hand://\(hosts.joined(separator: ","))/x").server
        #expect(server.places == hosts.sorted().map { "\($0):7777" })
    }

    /// A server of several hosts is on this machine if all of them are.
    @Test(arguments: [
        ("hand://127.0.0.1:1,[::1]:2,localhost", true), ("hand://127.0.0.1,a", false), ("hand://a", false),
        ("hand+unix:///x.sock", true),
    ])
    func onlyLocalAddressesAreThisMachine(text: String, isThisMachine: Bool) throws {
        #expect(try HandAddress(text).server.isThisMachine == isThisMachine)
    }
}
