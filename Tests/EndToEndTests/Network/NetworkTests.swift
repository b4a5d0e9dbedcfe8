import EventLoop
import FaultyNetwork
import Foundation
import HandClient
import HandCore
import HandFormats
import HandTestSupport
import Testing

/// The real server behind a bad network, and several people who edit at once. Whatever the network does, everybody ends
/// with the store's list, no acknowledged edit is missing, and nothing occurs twice.
@Suite(.serialized) struct NetworkTests {
    /// 300 ms in each direction, in pieces, over a line of low bandwidth.
    @Test func latencyAndLowBandwidth() async throws {
        var faults = Faults()
        faults.bothWays {
            $0.latency = 300
            $0.jitter = 50
            $0.pieceBytes = 1...700
            $0.bytesPerSecond = 200_000
        }
        let network = try await Network(seed: testSeed(71), faults)
        try await network.edit { try await $0.acknowledged(60) }
        #expect(network.proxy.traffic.connections == Network.people)
    }

    /// Connections are cut in the middle of their data; some cuts are noticed by only one end.
    @Test func cutConnectionsLoseNothing() async throws {
        var faults = Faults()
        faults.resetsPerSecond = 0.05
        faults.halfOpenShare = 0.5
        faults.bothWays {
            $0.latency = 2
            $0.jitter = 20
            $0.pieceBytes = 1...300
            $0.resetsPerPiece = 0.01
        }
        let network = try await Network(seed: testSeed(72), faults)
        try await network.edit { try await $0.acknowledged(600) }
        #expect(network.proxy.traffic.resets > 5)
    }

    /// The network stalls and continues: sometimes before anybody notices, sometimes after somebody has given up. Then
    /// only one direction stalls.
    @Test func aStallingNetworkLosesNothing() async throws {
        let network = try await Network(seed: testSeed(73), Faults(), idleTimeout: 1)
        try await network.edit { network in
            for round in 0..<4 {
                try await network.acknowledged(40)
                network.proxy.change { faults in
                    if round % 3 != 1 { faults.down.isSilent = true }
                    if round % 3 != 2 { faults.up.isSilent = true }
                }
                if round % 2 == 0 { try await network.editUnheard(30) } else { try await network.somebodyGivesUp() }
                network.proxy.heal()
            }
            try await network.acknowledged(40)
        }
    }

    /// For a while, nobody accepts what is sent: the senders must wait, and then continue.
    @Test func sendersContinueAfterStalledReaders() async throws {
        let network = try await Network(seed: testSeed(74), Faults())
        try await network.edit { network in
            for _ in 0..<4 {
                try await network.acknowledged(40)
                network.proxy.change { $0.bothWays { $0.takesNothing = true } }
                try await network.editUnheard(200)
                network.proxy.heal()
            }
            try await network.acknowledged(40)
        }
    }

    /// All faults, and the server is killed.
    @Test func allFaultsAtOnce() async throws {
        var random = SplitMix64(seed: testSeed(75))
        var bad = Faults()
        bad.resetsPerSecond = 0.05
        bad.halfOpenShare = 0.5
        bad.bothWays {
            $0.latency = 20
            $0.jitter = 40
            $0.pieceBytes = 1...400
            $0.resetsPerPiece = 0.003
        }
        let faults = bad
        let network = try await Network(seed: random.next(), faults)
        try await network.edit { network in
            for round in 0..<8 {
                try await network.acknowledged(10 + random.next(below: 40))
                if round % 3 == 0 {
                    network.proxy.change { $0.isPartitioned = true }
                    try await network.editUnheard(20)
                }
                if round % 4 == 1 { network.proxy.resetAll() }
                if round % 2 == 1 { try network.restart() }
                network.proxy.change { $0 = faults }
            }
            try await network.acknowledged(40)
        }
    }
}
