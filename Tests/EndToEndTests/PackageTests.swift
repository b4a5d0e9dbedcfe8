import Foundation
import HandTestSupport
import Testing

/// The package of `.ci/package`, on a system with nothing but Debian's base.
@Suite(.serialized) struct PackageTests {
    private static let package: String? = {
        let folder =
            URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path + "/.build/package"
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return files.first { $0.hasSuffix(".deb") }.map { "\(folder)/\($0)" }
    }()
    private static let canBeTried =
        getuid() == 0 && package != nil && FileManager.default.isExecutableFile(atPath: "/usr/sbin/debootstrap")

    private let folder: TemporaryFolder
    private var root: String { folder.path + "/root" }

    init() throws { folder = try TemporaryFolder() }

    /// Starts a program that outlives the script: it keeps nothing open that would delay the script's end.
    private static let apart = """
        apart() {
            for file in /proc/$BASHPID/fd/*; do [ ${file##*/} -le 2 ] || eval "exec ${file##*/}>&-"; done
            exec "$@"
        }

        """

    /// Runs a shell script. Returns its output.
    @discardableResult
    private func shell(_ script: String, _ arguments: String..., expecting status: Int32 = 0) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments = ["-euo", "pipefail", "-c", Self.apart + script, "bash"] + arguments
        process.environment = [
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8",
            "XDG_STATE_HOME": folder.path + "/state", "XDG_CONFIG_HOME": folder.path + "/config", "ROOT": root,
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

    /// The package is installed, used, upgraded while people edit, removed and purged.
    @Test(.enabled(if: canBeTried, "needs the package (.ci/package), debootstrap, and root"))
    func thePackageWorksFromInstallingToPurging() throws {
        try shell(
            ". /etc/os-release; debootstrap --variant=minbase $VERSION_CODENAME $ROOT; mount -t proc proc $ROOT/proc; chroot $ROOT apt-get update"
        )
        defer { _ = try? shell("umount $ROOT/proc || true") }
        try shell(
            "cp $1 $ROOT/hand.deb; chroot $ROOT apt-get install -y --no-install-recommends /hand.deb",
            Self.package ?? "")
        try whatIsInstalled()
        let port = try shell("echo $((20000 + RANDOM % 20000))").trimmingCharacters(in: .whitespacesAndNewlines)
        let url = "hand://127.0.0.1:\(port)"
        try shell("chroot $ROOT install -d -o hand -g hand -m 700 /var/lib/hand")
        try start(url)
        defer { _ = try? shell("kill -9 $(cat $ROOT/pid) || true") }
        let hand = "HAND_URL=\(url)/groceries \(Binary.path)"
        try shell("\(hand) create groceries; \(hand) add milk")
        try shell(
            "export HAND_URL=\(url)/groceries; apart \(Binary.path) watch >$ROOT/seen 2>&1 & echo $! >$ROOT/watch")
        defer { _ = try? shell("kill $(cat $ROOT/watch) || true") }
        try upgrade()
        // As systemd does: it ends the running server and starts the new one.
        try shell("kill $(cat $ROOT/pid); while kill -0 $(cat $ROOT/pid) 2>/dev/null; do sleep 0.05; done")
        try start(url)
        #expect(try shell("chroot $ROOT dpkg-query -W -f='${Version}' hand").hasSuffix("+upgraded"))
        try shell(
            "\(hand) add bread; for _ in {1..200}; do grep -q bread $ROOT/seen && exit 0; sleep 0.1; done; exit 1")
        #expect(try shell("\(hand) ls").contains("milk"), "the lists still exist")
        try shell("kill $(cat $ROOT/pid)")
        try shell("chroot $ROOT apt-get remove -y hand; test ! -e $ROOT/usr/bin/hand")
        try shell("test -e $ROOT/var/lib/hand/hand.sqlite; test -e $ROOT/etc/hand/serve.toml")
        try shell("chroot $ROOT apt-get purge -y hand; test ! -e $ROOT/var/lib/hand; test ! -e $ROOT/etc/hand")
    }

    private func whatIsInstalled() throws {
        #expect(try shell("chroot $ROOT hand --version") == Binary.run(["--version"]).output)
        try shell("chroot $ROOT hand serve --config /etc/hand/serve.toml --print-config | grep -q '^max-items'")
        try shell("grep -q '^hand:' $ROOT/etc/passwd")
        for file in [
            "usr/share/bash-completion/completions/hand", "usr/share/zsh/vendor-completions/_hand",
            "usr/share/fish/vendor_completions.d/hand.fish", "usr/lib/systemd/system/hand.service",
            "usr/lib/systemd/system/hand.socket", "etc/hand/serve.toml",
        ] {
            #expect(FileManager.default.fileExists(atPath: "\(root)/\(file)"), "\(file)")
        }
        let contents = try shell("dpkg-deb -c $1", Self.package ?? "")
        for file in [
            "man1/hand-add.1.gz", "man5/hand-serve.toml.5.gz", "man7/hand-merging.7.gz", "doc/hand/Protocol.md.gz",
        ] {
            #expect(contents.contains(file), "\(file)")
        }
        // Times in the machine's zone, addresses, dates: everything that needs no tables of ICU.
        try shell("chroot $ROOT ln -sf /usr/share/zoneinfo/Europe/Paris /etc/localtime")
        #expect(
            try shell("chroot $ROOT hand ls --url hand://127.0.0.1:1/x --timeout 1", expecting: 6).contains(
                "127.0.0.1:1"))
        #expect(try shell("chroot $ROOT hand ls --timeout 2e6", expecting: 2).contains("found 2000000"))
    }

    private func start(_ url: String) throws {
        let place = url.replacing("hand://", with: "")
        try shell(
            """
            apart chroot --userspec=hand:hand $ROOT hand serve --config /etc/hand/serve.toml --data /var/lib/hand --listen $1 \
                >$ROOT/serve.log 2>&1 & echo $! >$ROOT/pid
            for _ in {1..200}; do \(Binary.path) lists -q --url $2 >/dev/null 2>&1 && exit 0; sleep 0.1; done; cat $ROOT/serve.log; exit 1
            """, place, url)
    }

    /// Installs a newer version, which differs only in its number, while the server runs.
    private func upgrade() throws {
        try shell(
            """
            dpkg-deb -R $1 $ROOT/newer; sed -i 's/^Version: .*/&+upgraded/' $ROOT/newer/DEBIAN/control
            dpkg-deb --root-owner-group -Zgzip -b $ROOT/newer $ROOT/newer.deb
            echo '# my own line' >>$ROOT/etc/hand/serve.toml
            chroot $ROOT apt-get install -y /newer.deb; grep -q 'my own line' $ROOT/etc/hand/serve.toml
            kill -0 $(cat $ROOT/pid)
            """, Self.package ?? "")
    }
}
