import Foundation

/// The system's program for web addresses.
enum Opener {
    /// Opens an address with the system's program. Returns the reason if that failed, or nil.
    static func open(_ address: String) -> String? {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["xdg-open", address]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard isInstalled("xdg-open") else { return "this system has no xdg-open; the address is \(address)" }
        do {
            try process.run()
            return nil
        } catch {
            return "xdg-open did not start: \(error)"
        }
    }

    static func isInstalled(_ program: String) -> Bool {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return path.split(separator: ":").contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
    }
}
