import ArgumentParser
import Glibc

/// The `hand-lab` command: tools for developers of `hand` and of other clients.
@main
struct HandLab: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hand-lab", abstract: "Test 'hand', or a client that you write.",
        subcommands: [Simulate.self, VectorsCommand.self, AwkwardCommand.self, MachineCommand.self])
}

/// The error if the command has done its work, but the subject of its test has failed.
struct LabError: Error, CustomStringConvertible {
    let description: String
}

/// Writes a line at once, also into a pipe.
func tell(_ text: String, on descriptor: Int32 = STDOUT_FILENO) {
    let bytes = Array((text + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
}
