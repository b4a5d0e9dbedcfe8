import Foundation

/// Build products next to the test bundle.
package enum Built {
    private static let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path
    /// The `hand` command.
    package static let hand = folder + "/hand"
    /// The `hand-lab` command.
    package static let lab = folder + "/hand-lab"
    /// The server of the speed tests, which only numbers frames.
    package static let fanOut = folder + "/hand-fanout"

    /// The library that is loaded before the system's. It is not part of the package, so the tests build it on first
    /// use.
    package static let faultyDisk: String = {
        let source = Project.root.appending(path: "Tests/Support/FaultyDisk/faultydisk.c").path
        let library = folder + "/libfaultydisk.so"
        // Another process of the tests may be loading it at this moment.
        let fresh = library + ".\(ProcessInfo.processInfo.processIdentifier)"
        let clang = Process()
        clang.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        clang.arguments = [
            "clang", "-Wall", "-Werror", "-shared", "-fPIC", "-O1", "-o", fresh, source,
        ]
        do { try clang.run() } catch { fatalError("\(error)") }
        clang.waitUntilExit()
        precondition(clang.terminationStatus == 0 && rename(fresh, library) == 0, "clang could not build \(library)")
        return library
    }()
}
