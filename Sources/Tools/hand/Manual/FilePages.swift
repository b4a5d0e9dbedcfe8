import HandFormats
import HandLoad
import HandScreens
import HandWire

/// The manual pages of the files, the protocol and the topics.
enum FilePages {
    static func all() throws -> [Roff] {
        [try serveFile(), configurationFile(), loadScript(), wireProtocol()] + Topic.all.map(page)
    }

    private static func serveFile() throws -> Roff {
        var page = Roff("hand-serve.toml", section: 5, "settings of a hand server")
        page.paragraphs(
            """
            A TOML file with the options of 'hand serve', under their names: strings in quotes, numbers, true or false, and lists in \
            brackets. 'hand serve' reads the file that --config or $HAND_CONFIG names, or else ~/.config/hand/serve.toml. The \
            environment overrides the file, and the command line overrides both. An unknown name is an error.

            \(PackagedServer.rule)

            'hand serve --print-config' prints the settings in effect and where each comes from; 'hand serve --example-config' prints \
            a file with every option and its default, commented out.
            """, under: "Description")
        page.heading("Settings")
        for entry in try ServeExample.entries() {
            page.item(entry.name, entry.text + (entry.value.map { " Default: \($0)." } ?? ""))
        }
        page.heading("Examples")
        page.literal([
            "listen = [\"0.0.0.0:7777\"]", "tls-cert = \"/etc/hand/cert.pem\"", "tls-key = \"/etc/hand/key.pem\"",
        ])
        page.paragraphs("hand-serve(1), hand-unit(1)", under: "See also")
        return page
    }

    private static func configurationFile() -> Roff {
        var page = Roff("hand-config.toml", section: 5, "settings of a hand user")
        page.paragraphs(
            """
            The file ~/.config/hand/config.toml, or hand/config.toml in $XDG_CONFIG_HOME, holds the user's settings in TOML. Each \
            setting can also be set in the environment, which overrides the file. Contexts (see hand-context(1)) have one such file \
            per server, without keys.
            """, under: "Description")
        page.heading("Settings")
        for key in Settings.Key.allCases { page.item("\(key.rawValue) (\(key.variable))", key.summary) }
        page.paragraphs(
            """
            The section [keys] replaces the default keys of an action with a list of keys. \(Keys.notation)
            """, under: "Keys")
        for action in Action.allCases {
            let keys = action.manual.keys.joined(separator: ", ")
            page.item(action.rawValue, "\(action.manual.long). Default: \(keys.isEmpty ? "no key" : keys).")
        }
        page.heading("Examples")
        page.literal([
            "url = \"hands://lists.example.org/groceries\"", "name = \"ada\"", "[keys]", "delete = [\"d d\"]",
        ])
        page.paragraphs("hand(1), hand-keys(1), hand-context(1)", under: "See also")
        return page
    }

    private static func loadScript() -> Roff {
        var page = Roff("hand-load-script", section: 5, "what the clients of 'hand load' do")
        page.paragraphs(Load.language, under: "Description")
        page.paragraphs("This is 'hand load editing':", under: "Examples")
        page.literal(
            BuiltinScript.editing.source.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
        page.paragraphs("hand-load(1)", under: "See also")
        return page
    }

    private static func wireProtocol() -> Roff {
        var page = Roff("hand-protocol", section: 7, "how clients and servers of hand communicate")
        let (lowest, highest) = (ProtocolVersion.lowest, ProtocolVersion.highest)
        let versions = lowest == highest ? "version \(highest)" : "versions \(lowest) to \(highest)"
        page.paragraphs(
            """
            A client connects over TCP, TLS or a Unix socket; the default port is \(HandAddress.defaultPort). Both sides send frames: a \
            length, then one message. The client sends a hello with the versions that it supports and its secret id; this program \
            supports \(versions). The server answers with a welcome, or with an \
            error that gives the reason.

            A client then subscribes to lists. It receives a snapshot of the list, or the commits that it has missed, and after that \
            every new commit: a delta of insertions, deletions, moves and edits, with a digest of the resulting list. The client \
            submits its own deltas against the newest revision that it has. The server transforms them over the commits in between; \
            the commit that it then sends to everybody is also the acknowledgement. Each submission has a unique sequence number, so \
            that it can be sent again after a lost connection and is never applied twice.

            Protocol.md (in /usr/share/doc/hand, if hand is installed as a package) is the exact specification. Beside it are \
            Vectors.md, which describes the JSON forms of lists, edits and commits, and examples in Python.
            """, under: "Description")
        page.paragraphs("hand-merging(7)", under: "See also")
        return page
    }

    private static func page(_ topic: Topic) -> Roff {
        var page = Roff("hand-\(topic.name)", section: 7, topic.summary)
        page.paragraphs(topic.text, under: "Description")
        page.paragraphs("hand(1)", under: "See also")
        return page
    }
}
