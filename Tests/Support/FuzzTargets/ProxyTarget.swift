import HandFormats

enum ProxyTarget {
    static func run(_ bytes: [UInt8]) throws {
        let found = Result { try ProxyHeader.read(bytes) }
        guard case .success(let (header, size)?) = found else {
            if case .success = found {
                try check(bytes.count < ProxyHeader.maxBytes, "more is awaited than there may be")
            }
            return
        }
        try check((1...bytes.count).contains(size), "\(size) of \(bytes.count) bytes are a header")
        try check(header.source?.ip.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } ?? true, "an address is no text")
        // The result is the same in whatever pieces the header arrives, and whatever follows it.
        for end in 0..<size {
            guard case .success(nil) = Result(catching: { try ProxyHeader.read(Array(bytes.prefix(end))) }) else {
                throw Fault(description: "\(end) of \(size) bytes are refused, or enough")
            }
        }
        let whole = try ProxyHeader.read(Array(bytes.prefix(size)))
        try check(whole?.header == header && whole?.size == size, "what follows a header changes it")
    }
}
