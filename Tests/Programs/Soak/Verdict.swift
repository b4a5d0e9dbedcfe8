import Foundation

/// The result of a run.
struct Verdict: Encodable {
    var seconds = 0
    var acknowledged = 0
    var missing = 0
    var doubled = 0
    var isConverged = false
    var isVerified = false
    var serverMemory: Samples.Growth
    var ownMemory: Samples.Growth
    var serverDescriptors: Samples.Growth
    var ownDescriptors: Samples.Growth
    var reconnects = 0
    var restarts = 0
    var problems: [String] = []

    init(_ samples: Samples) {
        serverMemory = samples.serverMemory
        ownMemory = samples.ownMemory
        serverDescriptors = samples.serverDescriptors
        ownDescriptors = samples.ownDescriptors
    }

    var holds: Bool {
        acknowledged > 0 && missing == 0 && doubled == 0 && isConverged && isVerified && problems.isEmpty
            && [serverMemory, ownMemory, serverDescriptors, ownDescriptors].allSatisfy(\.isFlat)
    }

    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }

    var text: String {
        func word(_ holds: Bool) -> String { holds ? "yes" : "NO" }
        func line(_ name: String, _ growth: Samples.Growth, _ unit: String) -> String {
            String(format: "%@ %.1f -> %.1f %@: ", name, growth.before, growth.after, unit)
                + (growth.isFlat ? "flat" : "NOT FLAT")
        }
        let lines = [
            "acknowledged \(acknowledged), missing \(missing), doubled \(doubled), converged \(word(isConverged)), "
                + "verified \(word(isVerified))",
            line("server memory", serverMemory, "MB"), line("own memory", ownMemory, "MB"),
            line("server descriptors", serverDescriptors, "open"), line("own descriptors", ownDescriptors, "open"),
        ]
        return (lines + problems + [holds ? "everything holds" : "SOMETHING DOES NOT HOLD"]).joined(separator: "\n")
    }
}
