import ArgumentParser
import HandSync

struct Undo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Take back your newest commit, or a given commit.",
        discussion: """
            Your commits are those that this machine made under your name (--as), not those of others with the same name. The \
            next undo takes back the commit before; 'hand redo' makes commits again. With a revision, you can take back anybody's \
            commit, as an edit of your own. Only the server has the history: if no server answers, --queue keeps nothing.

            Others' later edits of other items, and of other parts of the same items, stay. If somebody has replaced your words, the \
            new words stay and are printed; with --json they are in 'keptWords'. A place, a tick or a level goes back to what it \
            was before your commit, also if somebody has changed it since. An item that you added goes with what others have \
            written in it.
            """)

    @OptionGroup var options: EditOptions

    @Option(name: .shortAndLong, help: .init("How many commits to take back, the newest first.", valueName: "number"))
    var number: Int?

    @Argument(help: "The revision to take back.") var revision: Int?

    func validate() throws {
        try ListOptions.check(number, upTo: Undoing.maxSteps)
        if number != nil, revision != nil { throw ValidationError("Give a revision or -n, not both.") }
    }

    func run() async throws {
        if let revision { return try await Undoing.takeBack(revision, options) }
        try await Undoing.steps(.undo, number ?? 1, options)
    }
}

struct Redo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redo", abstract: "Make again what you last undid.",
        discussion: """
            After a new edit of your own, there is nothing to redo. Only the server has the history: if no \
            server answers, --queue keeps nothing.
            """)

    @OptionGroup var options: EditOptions
    @Option(name: .shortAndLong, help: .init("How many commits to make again.", valueName: "number")) var number: Int?

    func validate() throws { try ListOptions.check(number, upTo: Undoing.maxSteps) }

    func run() async throws { try await Undoing.steps(.redo, number ?? 1, options) }
}
