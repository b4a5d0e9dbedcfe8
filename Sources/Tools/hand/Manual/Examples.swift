/// Two to four real uses of each command, for the end of its help and a section of its manual page.
enum Examples {
    /// The examples by the words after `hand`. The tests run them.
    private static let all: [String: [String]] = [
        "": [
            "hand serve", "hand create groceries", "hand add -l groceries milk \"oat flakes\"", "hand open groceries",
        ],
        "add": [
            "hand add milk \"oat flakes\"",
            "hand add --top --heading \"This week\"",
            "hand add --link https://example.org \"how to make soup\"",
            "hand add - < groceries.txt",
        ],
        "admin": ["hand admin connections", "hand admin close 17", "hand admin drain --within 5m"],
        "admin backup": ["hand admin backup lists.backup", "hand admin backup /var/lib/hand/lists.backup"],
        "admin close": ["hand admin close 17", "hand admin close 17 --data /var/lib/hand"],
        "admin compact": ["hand admin compact", "hand admin compact --data /var/lib/hand"],
        "admin connections": ["hand admin connections", "hand admin connections --json"],
        "admin drain": ["hand admin drain", "hand admin drain --within 5m"],
        "admin log-level": ["hand admin log-level debug", "hand admin log-level info"],
        "admin report": ["hand admin report", "hand admin report --all --store postgres://hand@db.example/hand"],
        "backup": [
            "hand backup lists.backup",
            "hand backup lists.backup --data /var/lib/hand",
            "hand backup lists.backup --store postgres://hand@db.example/hand",
        ],
        "clear": ["hand clear", "hand clear -l groceries --json"],
        "context": [
            "hand context add work hands://lists.example.org",
            "hand -c work ls -l groceries",
            "hand context use work",
        ],
        "context add": [
            "hand context add home hand://127.0.0.1:7777",
            "hand context add work hands://lists.example.org --ask-token --as ada",
            "hand context add lab hands://10.0.0.5:7777 --ca ~/lab-ca.pem",
        ],
        "context list": ["hand context", "hand context list --json"],
        "context rm": ["hand context rm lab", "hand context rm work"],
        "context use": ["hand context use work", "hand context use"],
        "cp": ["hand cp 3 --to work", "hand cp 3 --after 3"],
        "create": ["hand create groceries", "hand create poker --deck --max-items 5 --kinds card"],
        "deal": ["hand deal", "hand deal 5 -l poker"],
        "delete": ["hand delete groceries", "hand delete groceries --force"],
        "demo": ["hand demo", "hand demo --no-mouse"],
        "diff": ["hand diff 1 4", "hand diff 1 4 --json"],
        "doctor": [
            "hand doctor",
            "hand doctor --url hands://lists.example.org/groceries",
            "hand -c work doctor --json",
        ],
        "done": ["hand done 1", "hand done 2 5-7"],
        "edit": [
            "hand edit 3 \"oat milk, 2 l\"",
            "hand edit 3 \"oat milk, 2 l\" --was \"oat milk\"",
            "hand edit k3f9 --link https://example.org",
            "hand edit 4 --level 1",
        ],
        "export": ["hand export", "hand export groceries.md", "hand export --format jsonl --at 12"],
        "find": ["hand find milk", "hand find --mine --due week", "hand find milk --offline --json"],
        "import": ["hand import groceries.txt", "hand import groceries.jsonl --new-ids --top"],
        "keys": ["hand keys", "hand keys --json"],
        "lists": ["hand lists", "hand lists --json", "hand lists --deleted"],
        "load": [
            "hand load editing --clients 500",
            "hand load --rate 2000 --threshold 'ack.p99<20ms'",
            "hand load --light --clients 5000 readers",
        ],
        "log": ["hand log", "hand log -n 10", "hand log --from 100 --json"],
        "ls": ["hand ls -l groceries", "hand ls 3-7", "hand ls --open --grep milk"],
        "mv": ["hand mv 3 --top", "hand mv 5 7 --after k3f9", "hand mv 3 --to work"],
        "open": ["hand open groceries", "hand open hand://127.0.0.1:7777/groceries/history/7", "hand -c work open"],
        "recover": [
            "hand recover lists.backup", "hand recover lists.backup --replace --data /var/lib/hand",
            "hand recover --salvage damaged/hand.sqlite --data saved",
        ],
        "redo": ["hand redo", "hand redo -n 3"],
        "rename": ["hand rename groceries shopping", "hand rename groceries shopping --json"],
        "restore": ["hand restore --at 12", "hand restore --at 12 --if-revision 20"],
        "rm": ["hand rm 2", "hand rm 2 5-7", "hand rm k3f9 --if-revision 12"],
        "serve": [
            "hand serve",
            "hand serve --listen 0.0.0.0:7777 --tls-cert cert.pem --tls-key key.pem",
            "hand serve --config /etc/hand/serve.toml --print-config",
        ],
        "share": [
            "hand share groceries --as Bob --role write --expires 7d --url hands://lists.example.org",
            "hand share poker --as Carol --role append",
        ],
        "show": ["hand show", "hand show 3", "hand show --at 12"],
        "sort": ["hand sort", "hand sort --by due", "hand sort 3-9 --by done"],
        "store": [
            "hand store copy ~/.local/state/hand/server postgres://hand@db.example/hand",
            "hand store copy postgres://hand@db.example/hand /srv/hand",
        ],
        "store copy": [
            "hand store copy ~/.local/state/hand/server postgres://hand@db.example/hand",
            "hand store copy postgres://hand@db.example/hand /srv/hand",
            "hand store copy lists.backup postgres://hand@db.example/hand",
        ],
        "sync": ["hand sync", "hand sync -l groceries", "hand sync -l groceries --discard"],
        "token": [
            "hand token create ada --role write",
            "hand token create bob --role read --list groceries --expires 7d",
            "hand token guests --remote read",
        ],
        "token create": [
            "hand token create ada --role write",
            "hand token create bob --role read --list groceries --expires 7d",
            "hand token create carol --role admin --data /var/lib/hand",
        ],
        "token grant": [
            "hand token grant k3f9x1 --role read",
            "hand token grant k3f9x1 --role write --list groceries",
            "hand token grant k3f9x1 --role none --list groceries",
        ],
        "token guests": ["hand token guests --remote read", "hand token guests --local none"],
        "token list": ["hand token list", "hand token list --json --data /var/lib/hand"],
        "token restore": ["hand token restore", "hand token restore --data /var/lib/hand"],
        "token revoke": [
            "hand token revoke k3f9x1",
            "hand token revoke k3f9x1 --store postgres://hand@db.example/hand",
        ],
        "top": ["hand top", "hand top --data /var/lib/hand", "hand top --all --store postgres://hand@db.example/hand"],
        "undelete": ["hand undelete groceries", "hand undelete groceries --name shopping"],
        "rejected": ["hand rejected", "hand rejected -l groceries --json"],
        "rejected list": ["hand rejected", "hand rejected list --json"],
        "rejected retry": ["hand rejected retry 1", "hand rejected retry all --queue"],
        "rejected text": ["hand rejected text 1", "hand rejected text all"],
        "rejected drop": ["hand rejected drop 1", "hand rejected drop all"],
        "undo": ["hand undo", "hand undo -n 3", "hand undo 12"],
        "undone": ["hand undone 1", "hand undone 2 5-7", "hand undone --all"],
        "unit": [
            "hand unit -- --listen 0.0.0.0:7777 --tls-cert /etc/hand/cert.pem --tls-key /etc/hand/key.pem",
            "hand unit -- --config /etc/hand/serve.toml > /etc/systemd/system/hand.service",
            "hand unit --socket 0.0.0.0:7777 > /etc/systemd/system/hand.socket",
        ],
        "verify": ["hand verify", "hand verify lists.backup", "hand verify --store postgres://hand@db.example/hand"],
        "watch": ["hand watch -l groceries", "hand watch --json"],
        "who": ["hand who", "hand who -l groceries --json"],
    ]

    /// - Parameter command: the words after `hand`.
    static func of(_ command: [String]) -> [String] { all[command.joined(separator: " ")] ?? [] }

    static func text(of command: [String]) -> String {
        let lines = of(command).map { "  \($0)" }
        return lines.isEmpty ? "" : "\nEXAMPLES:\n" + lines.joined(separator: "\n") + "\n"
    }
}
