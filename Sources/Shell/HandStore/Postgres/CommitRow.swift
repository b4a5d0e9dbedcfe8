import HandSync
import HandWire

/// A row of `commits` in a shared store: consecutive frames.
enum CommitRow {
    /// Returns the frames after `revision` in rows with the columns `last`, `first`, `frames`. The rows must be
    /// consecutive.
    ///
    /// - Throws: `StoreError.damaged`.
    static func frames(_ rows: PostgresRows, of list: ListNumber, after revision: Int) throws -> [StoredFrame] {
        var found: [StoredFrame] = []
        var end: Int?
        for index in 0..<rows.count {
            let row = rows[index]
            let (last, first) = (try row.integer(0), try row.integer(1))
            if let end, first != end + 1 { throw StoreError.missing(end + 1, of: list) }
            end = last
            try row.withBytes(2) { bytes in
                let places: [Range<Int>]
                do { places = try Frame.places(in: bytes) } catch {
                    throw StoreError.damaged(
                        "the commits up to revision \(last) of list \(list) cannot be read: \(error)")
                }
                guard places.count == last - first + 1 else {
                    throw StoreError.damaged(
                        "list \(list) has \(places.count) commits in the place of those from \(first) to \(last)")
                }
                for (offset, place) in places.enumerated() where first + offset > revision {
                    found.append(StoredFrame(revision: first + offset, bytes: [UInt8](bytes[place])))
                }
            }
        }
        return found
    }
}
