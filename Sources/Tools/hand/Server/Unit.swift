import ArgumentParser
import FoundationEssentials
import HandFormats
import HandServer

struct Unit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unit", abstract: "Print a systemd unit that runs the server.",
        discussion: """
            The options of 'hand serve' follow --. The server runs as a separate user; 'systemctl reload hand' makes it read its \
            certificate again. Its lists are in /var/lib/hand, unless its settings name another folder. It can write to no folder \
            but /var/lib/hand: to let it use another one, such as /srv/hand for its lists or for 'hand admin backup', run \
            'systemctl edit hand' and add a section [Service] with ReadWritePaths=/srv/hand. It sees no home folders, and a /tmp \
            of its own.

              hand unit -- --listen 0.0.0.0:7777 --tls-cert /etc/hand/cert.pem \\
                  --tls-key /etc/hand/key.pem > /etc/systemd/system/hand.service
              systemctl daemon-reload && systemctl enable --now hand

            With --socket ADDRESS it prints the socket unit instead. systemd then listens for the server, even while it restarts, \
            so that no connection is refused; leave --listen out of the server's options. To change the address later, run \
            'systemctl edit hand.socket', and add a section [Socket] with an empty ListenStream= before the new one.

              hand unit --socket 0.0.0.0:7777 > /etc/systemd/system/hand.socket

            --web makes it a socket for WebSockets. Its unit has another file name, and listens beside hand.socket. A socket \
            unit of your own needs FileDescriptorName=web for this.

              hand unit --socket 0.0.0.0:7780 --web > /etc/systemd/system/hand-web.socket
            """)

    @Option(
        help: .init(
            "Print a socket unit that listens on HOST:PORT or on a Unix socket's path.", valueName: "address"))
    var socket: String?

    @Flag(help: "The socket unit is for WebSockets, as --web of 'hand serve'.") var web = false

    @Option(help: .init("The server's user (default: a user that systemd makes).", valueName: "name")) var user: String?
    @Option(
        help: .init("The path of the program (default: this program's own path).", valueName: "path"),
        completion: .file()) var program: String?
    @Argument(parsing: .postTerminator, help: .init("Options of 'hand serve'.", valueName: "serve-option"))
    var options: [String] = []

    func validate() throws {
        do { _ = try Serve.parse(options) } catch {
            if Serve.exitCode(for: error) == .success { throw CleanExit.message(Serve.fullMessage(for: error)) }
            throw ValidationError("hand serve: " + Serve.message(for: error))
        }
        if let socket { _ = try Serve.endpoint(socket) }
        if web, socket == nil { throw ValidationError("--web needs --socket.") }
        if socket != nil, !options.isEmpty {
            throw ValidationError(
                "--socket prints the socket's unit, which has no options of 'hand serve': leave them out.")
        }
        // A line break in a value would begin a setting of its own.
        for text in options + [socket, user, program].compactMap({ $0 }) where text.contains(where: \.isControl) {
            throw ValidationError(
                "'\(text)' holds a line break or another control character, which a unit cannot hold")
        }
    }

    private static func socketUnit(_ address: String, isWeb: Bool) throws -> String {
        let place =
            switch try Serve.endpoint(address) {
            case .unix(let path): "\(path.replacing("%", with: "%%"))\nSocketMode=0660"
            case let endpoint: "\(endpoint)"
            }
        let (file, setting) = isWeb ? ("hand-web.socket", "web") : ("hand.socket", "listen")
        let name = isWeb ? "\nFileDescriptorName=\(ServiceManager.webName)\nService=hand.service" : ""
        return """
            [Unit]
            Description=Socket of the hand server

            # This address replaces '\(setting)' in the server's settings. To change it: systemctl edit \(file)
            [Socket]
            ListenStream=\(place)\(name)
            NoDelay=yes
            Backlog=511

            [Install]
            WantedBy=sockets.target

            """
    }

    func run() throws {
        if let socket { return Output.data(try Self.socketUnit(socket, isWeb: web)) }
        let path = program ?? URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
        let command = ([path, "serve"] + options).map(Self.quoted).joined(separator: " ")
        Output.data(
            """
            [Unit]
            Description=Lists that several people edit at once
            After=network-online.target
            Wants=network-online.target

            [Service]
            Type=notify
            ExecStart=\(command)
            ExecReload=/bin/kill -HUP $MAINPID
            Restart=on-failure
            TimeoutStopSec=30
            \(user.map { "User=\($0)" } ?? "DynamicUser=yes")
            StateDirectory=hand
            StateDirectoryMode=0700
            LimitNOFILE=65536

            # It needs the network and its folder, and nothing else. For another folder: ReadWritePaths=
            CapabilityBoundingSet=
            LockPersonality=yes
            NoNewPrivileges=yes
            PrivateDevices=yes
            PrivateTmp=yes
            ProtectClock=yes
            ProtectControlGroups=yes
            ProtectHome=yes
            ProtectHostname=yes
            ProtectKernelLogs=yes
            ProtectKernelModules=yes
            ProtectKernelTunables=yes
            ProtectProc=invisible
            ProtectSystem=strict
            RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
            RestrictNamespaces=yes
            RestrictRealtime=yes
            RestrictSUIDSGID=yes
            SystemCallArchitectures=native
            SystemCallFilter=@system-service
            UMask=0077

            [Install]
            WantedBy=multi-user.target

            """)
    }

    /// Quotes a word for systemd: escapes quotes and backslashes, and doubles its special characters.
    private static func quoted(_ word: String) -> String {
        let escaped = word.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("%", with: "%%")
            .replacing("$", with: "$$")
        let isPlain = !escaped.isEmpty && !escaped.contains { " \t\n'\";".contains($0) }
        return isPlain ? escaped : "\"\(escaped)\""
    }
}
