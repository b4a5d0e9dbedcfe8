import HandSync
import HandWire

/// A store that fails, whatever it is asked: it cannot be reached, or its disk has failed.
package struct BrokenStore: ContentsStore, SharedServers {
    let error: StoreError

    package init(_ error: StoreError) {
        self.error = error
    }

    package var step: Int { 0 }

    package func read<Value: Sendable>(_ body: (StoreContents) throws -> Value) throws -> Value { throw error }

    package func write<Value: Sendable>(_ body: (inout StoreContents) throws -> Value) throws -> Value { throw error }

    package func append(_ batches: [CommitBatch], by newcomers: [Newcomer]) throws -> [Appended] { throw error }

    package func author(for client: ClientID, person: String) throws -> (author: Author, isNew: Bool) { throw error }

    package func heartbeat(of server: UInt64, at address: String, report: [UInt8]) throws { throw error }

    package func leave(_ server: UInt64) throws { throw error }

    package func servers() throws -> [SharedServer] { throw error }

    package func exchange(
        _ mine: [PresenceNews], at server: UInt64, on lists: [ListNumber], knowing known: [PresencePlace: Int]
    ) throws -> [PresenceNews] {
        throw error
    }
}
