import HandFormats
import HandScreens
import Testing

/// The meaning of a URL is written as a URL with the same meaning, whatever is escaped in it.
@Suite struct AddressesReadBackTests {
    @Test(arguments: [
        ("hand://a%2Fb/x", "hand://a%2Fb:7777/x"),
        ("hand+unix:///a%20b/%3F.sock/x", "hand+unix:///a%20b/%3F.sock/x"),
        ("hand://a%20b/ä-1", "hand://a%20b:7777/ä-1"),
        ("hand://[fe80::1%25eth0]/x", "hand://[fe80::1%25eth0]:7777/x"),
        ("hand://[::1]:80/x", "hand://[::1]:80/x"),
        ("hand://127.0.0.1/x", "hand://127.0.0.1:7777/x"),
        ("hand://h/Summer trip", "hand://h:7777/Summer%20trip"),
        ("hand://h/Summer%20trip", "hand://h:7777/Summer%20trip"),
        ("hand://h/f%C3%BCr%20Oma%3F%23%25", "hand://h:7777/für%20Oma%3F%23%25"),
        ("hand://h/fu\u{308}r", "hand://h:7777/für"),
        ("hand://h/\"a\" <b> {c}|d\\e^`", "hand://h:7777/%22a%22%20%3Cb%3E%20%7Bc%7D%7Cd%5Ce%5E%60"),
        ("hand+unix:///s.sock/❤️", "hand+unix:///s.sock/%E2%9D%A4%EF%B8%8F"),
    ])
    func addressesAreWrittenEscaped(text: String, written: String) throws {
        let address = try HandAddress(text)
        #expect(address.description == written)
        #expect(try HandAddress(written) == address)
        #expect(try Location(written).description == written)
    }

    @Test func theZoneOfAnAddressIsNotEscaped() throws {
        #expect(try HandAddress("hand://[fe80::1%25eth0]/x").server == .tcp(host: "fe80::1%eth0", port: 7777))
    }

    @Test(arguments: ["hand://[::1(]/x", "hand://a%3Ab/x", "hand://[x]/x"])
    func invalidHostsAreRefused(text: String) {
        #expect(throws: HandAddress.ParseError.self) { try HandAddress(text) }
    }

    @Test(arguments: ["hand://h/a/b%3Fc%25", "hand://h/a/items/%2523", "hand://h/-/%20", "hand://h/\u{64C}k"])
    func placesReadBack(text: String) throws {
        let place = try Location(text)
        #expect(try Location(place.description) == place)
    }
}
