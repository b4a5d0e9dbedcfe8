import HandFormats
import HandScreens

enum AddressTarget {
    static func run(_ bytes: [UInt8]) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        if var address = try? HandAddress(text) {
            // A secret is never shown, so it does not read back.
            address.token = nil
            let again = try? HandAddress(address.description)
            try check(again == address, "'\(text)' is \(address), which is \(again.map { "\($0)" } ?? "no address")")
        }
        if let location = try? Location(text) {
            let again = try? Location(location.description)
            try check(again == location, "'\(text)' is \(location), which is \(again.map { "\($0)" } ?? "no place")")
            try lying(location.route)
        }
    }

    /// Checks that following `beneath` from any place ends at the lists.
    private static func lying(_ route: Route) throws {
        var route: Route? = route
        var depth = 0
        while let place = route {
            route = place.beneath
            depth += 1
            try check(depth < 8, "the places beneath one another never end")
        }
    }
}
