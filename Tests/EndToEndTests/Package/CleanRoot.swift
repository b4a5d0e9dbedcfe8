import Foundation
import HandTestSupport
import Testing

/// A system with nothing but Debian's base, in a folder.
struct CleanRoot {
    let folder: TemporaryFolder
    var path: String { folder.path + "/root" }

    /// Starts a program that outlives the script: it keeps nothing open that would delay the script's end.
    private static let apart = """
        apart() {
            for file in /proc/$BASHPID/fd/*; do [ ${file##*/} -le 2 ] || eval "exec ${file##*/}>&-"; done
            exec "$@"
        }

        """

    /// A service manager for the package's scripts: it records its orders, and ends the server when it is to restart.
    private static let manager = """
        #!/bin/sh
        echo "$*" >>/orders
        case "$*" in *"restart hand.service"* | *"stop hand.socket hand.service"*) [ ! -e /pid ] || kill $(cat /pid);; esac
        """

    init() throws {
        folder = try TemporaryFolder()
        try shell(
            """
            . /etc/os-release; debootstrap --variant=minbase $VERSION_CODENAME $ROOT; mount -t proc proc $ROOT/proc
            mount --bind /dev/pts $ROOT/dev/pts; mkdir -p $ROOT/run/systemd/system
            """)
        try Self.manager.write(toFile: path + "/usr/bin/systemctl", atomically: true, encoding: .utf8)
        try shell("chmod +x $ROOT/usr/bin/systemctl; chroot $ROOT apt-get update")
    }

    /// Ends the server, and lets the folder go.
    func end() {
        _ = try? shell("kill -9 $(cat $ROOT/pid) || true; umount $ROOT/proc $ROOT/dev/pts")
    }

    /// Runs a shell script. Returns its output.
    @discardableResult
    func shell(_ script: String, _ arguments: String..., expecting status: Int32 = 0) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments = ["-euo", "pipefail", "-c", Self.apart + script, "bash"] + arguments
        process.environment = [
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive",
            "LC_ALL": "C.UTF-8", "ROOT": path, "HOME": "/root",
        ].merging(ProcessInfo.processInfo.environment.filter { $0.key.lowercased().hasSuffix("_proxy") }) { $1 }
        let log = folder.path + "/shell.log"
        _ = FileManager.default.createFile(atPath: log, contents: nil)
        process.standardOutput = FileHandle(forWritingAtPath: log)
        process.standardError = process.standardOutput
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        let text = try String(contentsOfFile: log, encoding: .utf8)
        #expect(process.terminationStatus == status, "\(script): \(text.suffix(2_000))")
        return text
    }

    /// Runs a script as root of this system.
    @discardableResult
    func inside(_ script: String, expecting status: Int32 = 0) throws -> String {
        try shell("chroot $ROOT bash -euo pipefail -c \"$1\"", script, expecting: status)
    }

    /// Installs a package, as an administrator does.
    func install(_ package: String, expecting status: Int32 = 0) throws -> String {
        try shell(
            "cp $1 $ROOT/hand.deb; chroot $ROOT apt-get install -y --no-install-recommends /hand.deb", package,
            expecting: status)
    }

    /// Starts the server with the command of its unit, and waits until it serves.
    func start() throws {
        try shell(
            """
            command=$(sed -n 's/^ExecStart=//p' $ROOT/usr/lib/systemd/system/hand.service)
            rm -f $ROOT/greeting; mkfifo $ROOT/greeting
            apart env -i PATH=$PATH STATE_DIRECTORY=/var/lib/hand chroot --userspec=hand:hand $ROOT $command \
                >$ROOT/greeting 2>$ROOT/serve.log & echo $! >$ROOT/pid
            grep -m 1 '^hand serves on' $ROOT/greeting || { cat $ROOT/serve.log; exit 1; }
            """)
    }

    /// Waits until the server has ended.
    func awaitEnd() throws {
        try shell("timeout 60 tail --pid=$(cat $ROOT/pid) -f /dev/null; ! kill -0 $(cat $ROOT/pid) 2>/dev/null")
    }
}
