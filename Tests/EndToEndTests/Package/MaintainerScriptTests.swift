import Foundation
import HandTestSupport
import Testing

/// What the package's scripts do to a machine: in a folder of their own, with commands that record their arguments.
@Suite struct MaintainerScriptTests {
    private let folder: TemporaryFolder
    private var lists: String { folder.path + "/lists" }
    private static let scripts = Project.root.path + "/.ci/debian/"

    init() throws {
        folder = try TemporaryFolder()
        let commands = folder.path + "/bin"
        for name in ["systemd", "etc", "bin"] {
            try FileManager.default.createDirectory(
                atPath: "\(folder.path)/\(name)", withIntermediateDirectories: false)
        }
        for (name, body) in [
            ("getent", "[ -n \"$ENTRY\" ] && echo \"$ENTRY\""), ("adduser", ""),
            ("install", "for place; do :; done; mkdir \"$place\" && chmod 700 \"$place\""),
            ("deb-systemd-helper", ""), ("deb-systemd-invoke", ""), ("systemctl", ""),
        ] {
            let text = "#!/bin/sh\necho \"${0##*/} $*\" >>\"\(folder.path)/orders\"\n\(body)\n"
            try text.write(toFile: "\(commands)/\(name)", atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(commands)/\(name)")
        }
    }

    /// Runs a script as the package manager does. Returns its exit code, and the commands that it ran.
    private func run(
        _ script: String, _ arguments: String..., user: String = ""
    ) throws -> (status: Int32, orders: String) {
        let text = try String(contentsOfFile: Self.scripts + script, encoding: .utf8)
            .replacing("/var/lib/hand", with: lists).replacing("/etc/hand", with: folder.path + "/etc")
            .replacing("/run/systemd/system", with: folder.path + "/systemd")
        #expect(!text.contains("/var/") && !text.contains("/etc/"), "no other place is touched")
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", text, script] + arguments
        process.environment = ["PATH": folder.path + "/bin:/usr/bin:/bin", "ENTRY": user]
        process.standardError = FileHandle.nullDevice
        let orders = folder.path + "/orders"
        try "".write(toFile: orders, atomically: true, encoding: .utf8)
        try process.run()
        process.waitUntilExit()
        return (process.terminationStatus, try String(contentsOfFile: orders, encoding: .utf8))
    }

    private func mode() throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: lists)[.posixPermissions] as? Int
    }

    /// The account of a person called hand, who may be the machine's first, is not the server's.
    @Test(arguments: [
        ("hand:x:999:999::/home/hand:/bin/sh", 0), ("hand:x:1000:1000::/home/hand:/bin/sh", 1),
        ("hand:x:1001:1001::/home/hand:/bin/sh", 1), ("hand:x:1000:1000::LISTS:/usr/sbin/nologin", 0),
    ])
    func aPersonIsNotTheServersUser(user: String, expected: Int32) throws {
        let (status, orders) = try run("postinst", "configure", user: user.replacing("LISTS", with: lists))
        #expect(status == expected && !orders.contains("adduser"))
        #expect(FileManager.default.fileExists(atPath: lists) == (expected == 0))
        #expect(orders.contains("try-restart hand.service") == (expected == 0))
    }

    /// The first installation makes the user and its folder; later ones leave the folder as its owner wants it.
    @Test func aFolderIsMadeOnce() throws {
        let first = try run("postinst", "configure")
        #expect(first.status == 0 && first.orders.contains("adduser --system --group"))
        #expect(first.orders.contains("install -d -o hand -g hand -m 700 \(lists)"))
        for wanted in [0o750, 0o711] {
            try FileManager.default.setAttributes([.posixPermissions: wanted], ofItemAtPath: lists)
            let next = try run("postinst", "configure", "1.0", user: "hand:x:110:110::\(lists):/usr/sbin/nologin")
            #expect(next.status == 0 && !next.orders.contains("install ") && !next.orders.contains("adduser"))
            #expect(try mode() == wanted)
        }
    }

    /// Lists outlive an upgrade and a removal, and not a purge. A server is stopped when its program goes, and only
    /// then.
    @Test func onlyAPurgeDeletesLists() throws {
        try FileManager.default.createDirectory(atPath: lists, withIntermediateDirectories: false)
        let settings = folder.path + "/etc/serve.toml"
        try "".write(toFile: settings, atomically: true, encoding: .utf8)
        #expect(try run("prerm", "upgrade", "1.1").orders.isEmpty)
        #expect(try run("prerm", "remove").orders == "deb-systemd-invoke stop hand.socket hand.service\n")
        for order in ["upgrade", "remove", "failed-upgrade", "abort-install"] {
            #expect(try run("postrm", order).status == 0)
            #expect(FileManager.default.fileExists(atPath: lists) && FileManager.default.fileExists(atPath: settings))
        }
        #expect(try run("postrm", "purge").status == 0)
        #expect(!FileManager.default.fileExists(atPath: lists) && !FileManager.default.fileExists(atPath: settings))
        #expect(try run("postrm", "purge").status == 0, "again, after it was interrupted")
    }
}
