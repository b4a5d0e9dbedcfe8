import Foundation
import HandTestSupport
import Testing

/// A person whose own disk fails on request; their server's does not. The list is called `list`.
final class FaultyUser {
    let server: FaultyServer
    private var folder: String { server.folder.path }
    var state: String { folder + "/state" }
    /// The file in which the calls to the disk are recorded, if they are.
    var trace: String?
    private var control: String { folder + "/user-control" }

    struct Outcome {
        let status: Int32
        let output: String
        let messages: String
    }

    init() throws {
        server = try FaultyServer()
    }

    func hand(_ arguments: String..., fault: String = "", after: Int = 0) throws -> Outcome {
        try run(arguments, fault: fault, after: after)
    }

    /// Runs a command to its end.
    ///
    /// - Parameters:
    ///   - fault: the fault of the disk.
    ///   - after: the number of affected calls that succeed first.
    func run(_ arguments: [String], fault: String = "", after: Int = 0) throws -> Outcome {
        try fault.write(toFile: control, atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Built.hand)
        process.arguments = arguments
        var environment = outerEnvironment.merging([
            "LD_PRELOAD": Built.faultyDisk, "FAULTY_DISK_FOLDER": state, "FAULTY_DISK_CONTROL": control,
            "FAULTY_DISK_AFTER": "\(after)", "HOME": folder, "HAND_NAME": "ada",
            "HAND_URL": "hand+unix://\(server.socket)/list", "XDG_STATE_HOME": state, "XDG_CONFIG_HOME": folder,
        ]) { $1 }
        environment["FAULTY_DISK_TRACE"] = trace
        process.environment = environment
        let (output, messages) = (Pipe(), Pipe())
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = messages
        try process.run()
        let texts = [output, messages].map {
            String(decoding: $0.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        }
        process.waitUntilExit()
        return Outcome(status: process.terminationStatus, output: texts[0], messages: texts[1])
    }

    /// Runs a command repeatedly with a fault that comes later each time, until it comes too late to matter.
    static func untilItIsTooLate(_ body: (_ run: Int) throws -> FaultyUser.Outcome) throws {
        var good = 0
        var hasFailed = false
        for run in 0..<60 where good < 3 {
            let outcome = try body(run)
            if outcome.status != 0 {
                // A warning that nothing is kept here may come first.
                #expect([1, 6].contains(outcome.status) && "\n\(outcome.messages)".contains("\nhand: "), "\(run)")
                hasFailed = true
            }
            good = outcome.status == 0 && hasFailed ? good + 1 : 0
        }
        #expect(good == 3)
    }

    /// Saves the contents of this person's disk, to be restored later.
    func saveState() throws {
        try? FileManager.default.removeItem(atPath: state + "-saved")
        try FileManager.default.copyItem(atPath: state, toPath: state + "-saved")
    }

    func restoreState() throws {
        try FileManager.default.removeItem(atPath: state)
        try FileManager.default.copyItem(atPath: state + "-saved", toPath: state)
    }
}
