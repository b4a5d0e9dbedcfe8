import Foundation

/// The resources that a process holds at one moment.
struct Holdings: Sendable, CustomStringConvertible {
    let megabytes: Double
    let descriptors: Int

    /// - Parameter process: a process id, or `self`.
    init(of process: String) {
        // The second number is that of resident pages.
        let text = (try? String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8)) ?? ""
        let words = text.split(separator: " ")
        let pages = words.count > 1 ? Double(words[1]) ?? 0 : 0
        megabytes = pages * Double(sysconf(Int32(_SC_PAGESIZE))) / 1_048_576
        descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count) ?? 0
    }

    var description: String { String(format: "%6.1f MB %3d fd", megabytes, descriptors) }
}

/// Measurements during the run.
///
/// Growth is the difference between the median of the second quarter of the samples and that of the last quarter. A
/// restarted server holds nothing yet, so servers are ended only in the first quarter of the run: both medians are then
/// of the same process, and the first one is of a process that has filled its buffers.
struct Samples {
    private var server: [Holdings] = []
    private var own: [Holdings] = []

    mutating func add(server: Holdings, own: Holdings) {
        self.server.append(server)
        self.own.append(own)
    }

    struct Growth: Encodable {
        let before: Double
        let after: Double
        let isFlat: Bool
    }

    var serverMemory: Growth { memory(server) }
    var ownMemory: Growth { memory(own) }
    var serverDescriptors: Growth { descriptors(server) }
    var ownDescriptors: Growth { descriptors(own) }

    private func memory(_ all: [Holdings]) -> Growth {
        let (before, after) = medians(all.map(\.megabytes))
        return Growth(before: before, after: after, isFlat: after <= before * 1.2 || after <= before + 20)
    }

    /// Connections come and go, so small differences mean nothing.
    private func descriptors(_ all: [Holdings]) -> Growth {
        let (before, after) = medians(all.map { Double($0.descriptors) })
        return Growth(before: before, after: after, isFlat: after <= before + 8)
    }

    private func medians(_ values: [Double]) -> (Double, Double) {
        let quarter = values.count / 4
        guard quarter > 0 else { return (0, 0) }
        return (Self.median(values[quarter..<2 * quarter]), Self.median(values.suffix(quarter)))
    }

    private static func median(_ values: ArraySlice<Double>) -> Double { values.sorted()[values.count / 2] }
}
