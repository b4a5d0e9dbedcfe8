import Foundation
import Glibc

/// Facts and measurements of the machine.
enum Machine {
    static var description: String {
        let model = lines("/proc/cpuinfo").first { $0.hasPrefix("model name") }?.split(separator: ":").last.map(
            String.init)
        let memory = lines("/proc/meminfo").first.flatMap { $0.split(separator: " ").dropFirst().first }.flatMap {
            Int($0)
        }
        let kernel = lines("/proc/sys/kernel/osrelease").first ?? "?"
        return "\(ProcessInfo.processInfo.processorCount) cores,\(model ?? " ?"), \((memory ?? 0) / 1_048_576) GiB, "
            + "Linux \(kernel)"
    }

    private static func lines(_ path: String) -> [String] {
        ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
    }

    /// Returns the resident memory of a process in bytes.
    static func resident(_ process: Int32) -> Double {
        let line = lines("/proc/\(process)/status").first { $0.hasPrefix("VmRSS") } ?? ""
        return line.split(separator: " ").compactMap { Double($0) }.first.map { $0 * 1_024 } ?? 0
    }

    /// Returns the processor time of a process in seconds, in steps of a hundredth.
    static func processorSeconds(_ process: Int32) -> Double {
        // The program's name, in parentheses, may contain spaces.
        let line = lines("/proc/\(process)/stat").first?.split(separator: ")").last ?? ""
        let fields = line.split(separator: " ")
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// The idle time of all cores together since the machine started, in seconds.
    static var idleSeconds: Double {
        let fields = (lines("/proc/stat").first ?? "").split(separator: " ")
        return fields.count > 4 ? (Double(fields[4]) ?? 0) / Double(sysconf(Int32(_SC_CLK_TCK))) : 0
    }

    static func connects(to port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    /// Returns the microseconds for appending three pages to a file and flushing it, as the store does for a commit.
    static func flushMicroseconds(in folder: String) -> Double {
        let descriptor = open(folder + "/flushed", O_CREAT | O_WRONLY | O_TRUNC, 0o600)
        defer {
            close(descriptor)
            unlink(folder + "/flushed")
        }
        let page = [UInt8](repeating: 1, count: 3 * 4_096)
        return (0..<500).map { _ in
            // A busy disk answers faster than one that is used only now and then, as by one person.
            usleep(300)
            let start = ContinuousClock.now
            _ = Glibc.write(descriptor, page, page.count)
            fdatasync(descriptor)
            return (ContinuousClock.now - start).seconds * 1e6
        }.median
    }
}
