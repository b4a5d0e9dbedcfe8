import Foundation
import HandTestSupport
import Testing

/// The package of `.ci/package`, on a system with nothing but Debian's base.
@Suite(.serialized) struct PackageTests {
    /// The package in a folder.
    private static func package(in folder: String) -> String? {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return files.first { $0.hasSuffix(".deb") }.map { "\(folder)/\($0)" }
    }
    private static let package = package(in: Project.root.path + "/.build/package")
    private static let canBeTried =
        getuid() == 0 && package != nil && FileManager.default.isExecutableFile(atPath: "/usr/sbin/debootstrap")

    /// The package is installed, used, upgraded while people edit, removed and purged.
    @Test(.enabled(if: canBeTried, "needs the package (.ci/package), debootstrap, and root"))
    func thePackageWorksFromInstallingToPurging() throws {
        let root = try CleanRoot()
        defer { root.end() }
        let package = try #require(Self.package)
        _ = try root.inside("useradd --uid 1500 --create-home hand")
        #expect(try root.install(package, expecting: 100).contains("that is the account of a person here: hand:x:1500"))
        _ = try root.inside("userdel hand; rm -r /home/hand; dpkg --configure hand")
        try whatIsInstalled(root)
        let port = try root.shell("echo $((20000 + RANDOM % 10000))").trimmingCharacters(in: .whitespacesAndNewlines)
        try root.inside("echo 'listen = [\"127.0.0.1:\(port)\"]' >>/etc/hand/serve.toml")
        // What 'systemctl enable' does.
        let link = "/etc/systemd/system/multi-user.target.wants/hand.service"
        try root.inside("mkdir -p $(dirname \(link)); ln -s /lib/systemd/system/hand.service \(link)")
        try root.start()
        let hand = "export HAND_URL=hand://127.0.0.1:\(port)/groceries; hand"
        try root.inside("\(hand) create groceries; \(hand) add milk")
        try operate(root, port)
        try root.shell(
            "apart chroot $ROOT hand watch --url $1 >$ROOT/seen 2>&1 & echo $! >$ROOT/watch",
            "hand://127.0.0.1:\(port)/groceries")
        defer { _ = try? root.shell("kill $(cat $ROOT/watch) || true") }
        try upgrade(root)
        try root.inside(
            "\(hand) add bread; for _ in {1..200}; do grep -q bread /seen && exit 0; sleep 0.1; done; exit 1")
        #expect(try root.inside("\(hand) ls").contains("milk"), "the lists still exist")
        try root.inside("apt-get remove -y hand; test ! -e /usr/bin/hand; grep 'stop hand.socket hand.service' /orders")
        try root.awaitEnd()
        try root.inside("test -e /var/lib/hand/hand.sqlite; test -e /etc/hand/serve.toml")
        try root.inside("apt-get purge -y hand; test ! -e /var/lib/hand; test ! -e /etc/hand; test ! -L \(link)")
    }

    private func whatIsInstalled(_ root: CleanRoot) throws {
        #expect(try root.inside("hand --version") == Binary.run(["--version"]).output)
        for file in [
            "usr/share/bash-completion/completions/hand", "usr/share/zsh/vendor-completions/_hand",
            "usr/share/fish/vendor_completions.d/hand.fish", "usr/lib/systemd/system/hand.service",
            "usr/lib/systemd/system/hand.socket", "etc/hand/serve.toml",
        ] {
            #expect(FileManager.default.fileExists(atPath: "\(root.path)/\(file)"), "\(file)")
        }
        let contents = try root.shell("dpkg-deb -c $1", Self.package ?? "")
        for file in [
            "man1/hand-add.1.gz", "man5/hand-serve.toml.5.gz", "man7/hand-merging.7.gz",
            "doc/hand/examples/serve.toml",
        ] {
            #expect(contents.contains(file), "\(file)")
        }
        try documentsLeadToEachOther(root)
        // Times in the machine's zone, addresses, dates: all without the tables that Foundation has for them.
        try root.inside("ln -sf /usr/share/zoneinfo/Europe/Paris /etc/localtime")
        #expect(try root.inside("hand ls --url hand://127.0.0.1:1/x --timeout 1", expecting: 6).contains("127.0.0.1:1"))
        #expect(try root.inside("hand ls --timeout 2e6", expecting: 2).contains("found 2000000"))
    }

    /// The package contains the targets of its documents' links, and the licences of what is linked.
    private func documentsLeadToEachOther(_ root: CleanRoot) throws {
        let folder = root.folder.path + "/contents"
        try root.shell("dpkg-deb -x $1 $2", Self.package ?? "", folder)
        let documents = folder + "/usr/share/doc/hand/"
        var count = 0
        for file in try FileManager.default.contentsOfDirectory(atPath: documents) where file.hasSuffix(".md") {
            let text = try String(contentsOfFile: documents + file, encoding: .utf8)
            for link in text.matches(of: #/\]\(([^):#]+)\)/#) {
                count += 1
                #expect(FileManager.default.fileExists(atPath: documents + link.1), "\(file) links to \(link.1)")
            }
        }
        #expect(count > 5)
        let works = try String(contentsOfFile: documents + "copyright", encoding: .utf8).matches(of: #/===== (.+)/#)
        #expect(
            works.map { String($0.1) }.sorted() == [
                "The Swift runtime and Foundation", "hdrhistogram-swift", "swift-argument-parser", "swift-collections",
                "swift-log", "swift-numerics", "toml++",
            ])
    }

    /// The operator's commands, as root, are about the server of the package.
    private func operate(_ root: CleanRoot, _ port: String) throws {
        let created = try root.inside("hand token create ada --role write")
        #expect(created.contains("the running server has applied the change"))
        #expect(try root.inside("stat -c %U /var/lib/hand/access.json") == "hand\n")
        #expect(try root.inside("hand token list").contains("ada: write on all lists"))
        #expect(try root.inside("hand share groceries").contains("hand://127.0.0.1:\(port)/groceries#"))
        #expect(try root.inside("hand admin report").contains("groceries"))
        #expect(
            try root.shell("TERM=xterm script -qec \"chroot $ROOT timeout 1 hand top\" /dev/null || true")
                .contains("groceries"))
        try root.inside("hand admin backup /var/lib/hand/own.backup; hand backup /root/lists.backup; hand verify")
        #expect(try root.inside("hand recover /root/lists.backup --replace", expecting: 1).contains("/var/lib/hand"))
        #expect(try root.inside("hand serve --print-config").contains("# /etc/hand/serve.toml"))
        // Whoever names another server's folder, or has one, means that.
        #expect(try root.inside("HAND_DATA=/root/other hand token list") != root.inside("hand token list"))
        try root.inside("mkdir -p /root/.config/hand; echo 'data = \"/root/own\"' >/root/.config/hand/serve.toml")
        #expect(try !root.inside("hand token list").contains("ada"))
        try root.inside("rm -r /root/.config; test ! -e /root/.local/state/hand/server")
    }

    /// Installs what a newer commit builds, while the server runs and its configuration has been edited.
    private func upgrade(_ root: CleanRoot) throws {
        let newer = root.folder.path + "/newer"
        try root.shell(
            "cd $1; export PATH=$PATH:$3; SOURCE_DATE_EPOCH=$(($(git log -1 --format=%ct) + 1)) .ci/package $2",
            Project.root.path, newer, ProcessInfo.processInfo.environment["PATH"] ?? "")
        let package = try #require(Self.package(in: newer))
        // A release with another option: the example differs.
        try root.shell(
            """
            dpkg-deb -R $1 $2/tree.newer; echo '#new = 1' >>$2/tree.newer/usr/share/doc/hand/examples/serve.toml
            dpkg-deb --root-owner-group -Zgzip -b $2/tree.newer $1
            """, package, newer)
        let before = try root.inside("dpkg-query -W -f='${Version}' hand; rm -f /orders")
        _ = try root.install(package)
        #expect(try root.inside("dpkg-query -W -f='${Version}' hand") != before)
        try root.inside("grep '^listen' /etc/hand/serve.toml; grep 'restart hand.service' /orders")
        try root.awaitEnd()
        try root.start()
    }
}
