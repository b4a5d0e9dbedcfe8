import ArgumentParser
import HandFormats

@main
struct HandCommand: AsyncParsableCommand {
    static let version = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "hand",
        abstract: "A list that several people edit at once from their terminals.",
        discussion: """
            An address is hand://HOST:PORT/LIST or hand+unix:///PATH/hand.sock/LIST. If several servers have the same lists, it names \
            them all: hand://HOST:PORT,HOST:PORT/LIST. Commands use the first of: --url, a context (-c NAME), $HAND_URL, the \
            context in use (hand context use NAME), "url" in ~/.config/hand/config.toml, hand://127.0.0.1:7777. 'hand context add' gives \
            a server a name: hand -c work ls.

            'hand' without arguments asks what you want to do; 'hand doctor' finds problems; 'hand help TOPIC' explains \
            \(Topic.all.map(\.name).joined(separator: ", ")).

            Items are named by their number in 'hand ls' or by the first characters of their id.

            Exit codes: \(CommandEnvironment.exitCodes.map { "\($0.rawValue) \($0.summary)" }.joined(separator: ", ")).
            """,
        version: version,
        groupedSubcommands: [
            CommandGroup(name: "Screen", subcommands: [Open.self, Demo.self, Keys.self]),
            CommandGroup(name: "Set-up", subcommands: [ContextCommand.self, Doctor.self]),
            CommandGroup(
                name: "Server",
                subcommands: [
                    Serve.self, Unit.self, Top.self, Admin.self, TokenCommand.self, Share.self, StoreCommand.self,
                    Verify.self,
                    Backup.self, Recover.self,
                    Load.self,
                ]),
            CommandGroup(
                name: "Lists", subcommands: [Lists.self, Create.self, Rename.self, Delete.self, Undelete.self]),
            CommandGroup(name: "Reading", subcommands: [List.self, Find.self, Show.self, Watch.self, Who.self]),
            CommandGroup(
                name: "Editing",
                subcommands: [
                    Add.self, Deal.self, Remove.self, Clear.self, Move.self, Copy.self, Sort.self, Edit.self, Done.self,
                    Undone.self,
                    Sync.self, RejectedCommand.self,
                ]),
            CommandGroup(name: "History", subcommands: [Log.self, Diff.self, Restore.self, Undo.self, Redo.self]),
            CommandGroup(name: "Exchange", subcommands: [Export.self, Import.self, ManualCommand.self]),
        ])

    /// Stands before the command, where `Arguments.takeContext` reads it: for the help and for completions.
    @OptionGroup var context: ContextOption

    static func main() async {
        Output.claimDescriptors()
        var layers: ServeLayers?
        var arguments: [String] = []
        do {
            arguments = try Arguments.given()
            Arguments.hideSecrets()
            try Arguments.takeContext(from: &arguments)
            if arguments.isEmpty, FirstRun.isWanted {
                guard let chosen = try await FirstRun.ask() else { Output.exit(.ok) }
                arguments = chosen
            }
            if Help.printTopic(arguments) { Output.exit(.ok) }
            try Arguments.checkCommand(arguments)
            try Arguments.separateTexts(in: &arguments)
            if arguments.first == "serve", !arguments.contains("--help"), !arguments.contains("-h") {
                let found = try ServeLayers(Array(arguments.dropFirst()))
                arguments = ["serve"] + found.arguments
                layers = found
            }
            do { try await perform(arguments, layers) } catch let unnamed as ListOptions.Unnamed {
                let name = try await unnamed.onlyList()
                arguments.insert(contentsOf: ["-l", name], at: Arguments.path(of: arguments).count)
                try await perform(arguments, layers)
            }
        } catch {
            finish(with: error, arguments) { layers?.explained($0) ?? $0 }
        }
    }

    private static func perform(_ arguments: [String], _ layers: ServeLayers?) async throws {
        var command = try await asyncParseAsRoot(arguments)
        if let serve = command as? Serve, serve.printConfig, let layers {
            serve.printSettings(from: layers)
        } else if var asynchronous = command as? AsyncParsableCommand {
            try await asynchronous.run()
        } else {
            try command.run()
        }
    }

    /// Prints the failure and exits with the code that the help lists, or by the signal that asked for the end.
    private static func finish(
        with error: any Error, _ arguments: [String], explained: (String) -> String
    ) -> Never {
        let failure = Failure(error)
        guard failure.isOurs else {
            // The parser also throws help, version and completion scripts, with exit code 0. Everything else is a usage
            // error.
            let code = exitCode(for: error)
            if code == .success {
                Output.data(Completions.script(Help.completed(fullMessage(for: error), arguments)) + "\n")
                Output.exit(.ok)
            }
            Output.message(UsageError(message(for: error), arguments).described(explained))
            Output.exit(.usage)
        }
        Output.message("hand: \(failure.message)")
        if Interruption.signal != nil { Interruption.end() }
        Output.exit(failure.status)
    }
}
