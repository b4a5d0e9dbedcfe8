// Fields that several messages have.

extension WireWriter {
    package mutating func flag(_ value: Bool) { byte(value ? 1 : 0) }

    /// Writes whether there is a revision, then the revision.
    mutating func optionalRevision(_ revision: Int?) {
        flag(revision != nil)
        if let revision { varint(revision) }
    }

    /// Writes what comes before the items of a chunk.
    mutating func chunkHead(request: RequestNumber, count: Int) {
        byte(DownMessage.Kind.chunk.rawValue)
        number(request)
        varint(count)
    }
}

extension WireReader {
    package mutating func flag(_ field: @autoclosure () -> String) throws(WireError) -> Bool {
        let value = try byte(field())
        guard value <= 1 else { throw .unknownValue(field: field(), found: UInt64(value)) }
        return value == 1
    }

    mutating func role() throws(WireError) -> Role {
        let number = try byte("role")
        guard let role = Role.allCases.first(where: { $0.number == number }) else {
            throw .unknownValue(field: "role", found: UInt64(number))
        }
        return role
    }

    mutating func optionalRevision() throws(WireError) -> Int? {
        try flag("at a revision") ? try revision("revision") : nil
    }
}
