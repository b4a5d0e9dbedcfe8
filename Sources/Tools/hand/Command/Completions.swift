import ArgumentParser
import FoundationEssentials
import HandClient
import HandCore
import HandFormats
import HandLoad
import HandServer
import HandSync
import HandWire

/// What the shell offers when Tab is pressed: nothing if the server does not answer quickly.
enum Completions {
    static let lists = CompletionKind.custom { words, _, _ in
        await answer(to: words) { client, _ in try await client.lists().map(\.name).filter(isName) }
    }

    static let deletedLists = CompletionKind.custom { words, _, _ in
        await answer(to: words) { client, _ in
            try await client.deletedLists(pages: 1).map(\.list.name).filter(isName)
        }
    }

    /// Ids of items, as short as 'hand ls' prints them.
    static let items = CompletionKind.custom { words, _, start in
        await answer(to: words) { client, address in
            guard let list = address.list else { return [] }
            let hand = try await client.state(of: list).hand
            let length = ShortID.length(in: hand)
            let ids = hand.lazy.map { ShortID.text(of: $0.id, length: length) }
            return Array(ids.filter { $0.hasPrefix(start) }.prefix(maxItems))
        }
    }

    static let contexts = CompletionKind.custom { _, _, _ in Contexts.names() }

    /// Ids of the tokens of a server on this machine.
    static let tokens = CompletionKind.custom { words, _, _ in
        let access = try? AccessOptions.parse(given(["--data", "--store", "--store-password"], in: words))
        return (try? access?.read().all.map(\.id)) ?? []
    }

    /// Numbers of the connections of a server on this machine.
    static let connections = CompletionKind.custom { words, _, _ in
        let server = try? AdminOptions.parse(given(["--data", "--admin"], in: words))
        let answer = try? server?.ask("/connections", timeout: 1_000)
        let all = try? answer.map { try AdminOptions.decoded($0, as: [ConnectionReport].self) }
        return all?.map { "\($0.number)" } ?? []
    }

    /// Numbers of the edits that this machine keeps for the person.
    static let losses = CompletionKind.custom { words, _, _ in
        let server = try? ServerOptions.parse(given(["--url", "--context", "--as"], in: words))
        let all = try? server.map { try Shelf($0, of: nil).all }
        return (all?.map { "\($0.number)" } ?? []) + ["all"]
    }

    /// Scripts of load tests: those that are built in, and files.
    static let scripts = CompletionKind.custom { _, _, start in
        let folder = start.lastIndex(of: "/").map { String(start[...$0]) } ?? ""
        let files = try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)
        return BuiltinScript.allCases.map(\.rawValue) + (files ?? []).map { folder + $0 }
    }

    /// The options among these that the words have, with their values.
    private static func given(_ options: [String], in words: [String]) -> [String] {
        options.flatMap { option in Arguments.value(of: [option], in: words).map { [option, $0] } ?? [] }
    }

    /// Whether a text can be a list's name, and so one word in a shell: a malicious server may send any text.
    private static func isName(_ name: String) -> Bool { ListName.problem(with: name) == nil }

    /// The largest number of items to offer.
    private static let maxItems = 500
    /// How long to wait for the server, in seconds: five ways to the other side of the world and back.
    private static let timeout = "1"

    private static func answer(
        to words: [String], _ ask: @escaping @Sendable (HandClient, HandAddress) async throws -> [String]
    ) async -> [String] {
        let url = Arguments.value(of: ["--url"], in: words)
        var options = ["--timeout", timeout] + (url.map { ["--url", $0] } ?? [])
        if let context = Arguments.value(of: ["-c", "--context"], in: words) { options += ["--context", context] }
        // Parsing comes first, because it sets the context that the next check uses.
        guard let server = try? ServerOptions.parse(options), !Settings.asksForToken(url: url)
        else { return [] }
        let list = Arguments.value(of: ["-l", "--list"], in: words)
        return (try? await server.withClient(list: list, by: client, ask)) ?? []
    }

    /// Nothing is stored about a server that this machine does not know.
    private static func client(at address: HandAddress, for person: String) throws -> HandClient {
        let open = Identity.knows(address.server) ? { try Identity.client(at: $0, person: $1) } : Identity.guest
        return try open(address, person)
    }

    /// Returns the parser's script for a shell, changed so that the script handles the candidates that it offers as
    /// data. Bash's 'compgen -W' would run commands in a candidate; zsh's '_describe' would split a candidate at a
    /// colon. Fish evaluates nothing in a candidate, but would parse the line for every option of every command.
    static func script(_ text: String) -> String {
        if text.hasPrefix("#!/bin/bash") { return text + "\n" + bash + "\n" + helpInBash }
        let end = "\nif [[ \"${funcstack[1]}\" = _hand ]]; then"
        if text.hasPrefix("#compdef") { return text.replacing(end, with: "\n" + zsh + end) }
        let parser = "function __hand_parse_tokens -S\n"
        return text.replacing(parser, with: parser + fish)
    }

    /// Offers each line, quoted. If the word begins with a quote, offers only the lines that need no quoting. Names of
    /// files are quoted by Bash.
    private static let bash = #"""
        __hand_add_completions() {
            local candidate quoted
            if [[ "${1}" = -[fd] ]]; then
                compopt -o filenames 2>/dev/null
                while IFS='' read -r candidate; do COMPREPLY+=("${candidate}"); done < <(compgen "${1}" -- "${cur}")
                return
            fi
            while IFS='' read -r candidate; do
                printf -v quoted %q "${candidate}"
                case "${cur}" in
                [\'\"]*) [[ "${candidate}" = "${cur:1}"* && "${candidate}" = "${quoted}" ]] ;;
                *) [[ "${candidate}" = "${cur}"* || "${quoted}" = "${cur}"* ]] ;;
                esac && [[ -n "${candidate}" ]] && COMPREPLY+=("${quoted}")
            done <<<"${2}"
        }

        complete -F _hand hand
        """#

    /// The parser's script offers nothing after 'hand help'.
    private static var helpInBash: String {
        let commands = HandCommand.configuration.subcommands.map { $0._commandName }.filter { $0 != "manual" }
        let words = commands + Topic.all.map(\.name) + ["topics"]
        return "_hand_help() { __hand_add_completions -W '\(words.joined(separator: "\n"))'; }"
    }

    /// Most options belong to a command that is not even in the line.
    private static let fish = #"""
            string match -q -- (string replace -a ' ' '*' -- "*$expected_commands*") (commandline -pc); or return

        """#

    /// Zsh quotes '!' only where it would mean the history, which the parser's script has turned off.
    private static let zsh = #"""
        __hand_custom_complete() {
            local -a candidates=("${(@f)"$("${command_name}" "${@}" "${command_line[@]}")"}")
            setopt localoptions banghist
            compadd -V hand -- "${(@)candidates:#( |)}"
        }

        """#
}
