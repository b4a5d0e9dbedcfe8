import ArgumentParser

struct Undo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Take back your newest commit, or the one named; others' edits since then stay.",
        discussion: """
            Your commits are those that this machine made under your name (--as), not those of others with the same name. The \
            next undo takes back the commit before; 'hand redo' makes them again. With a revision, anybody's commit is taken \
            back, as an edit of yours.

            If somebody has replaced words of yours, the new words stay and are printed; with --json they are in 'spared'.
            """)

    @OptionGroup var options: EditOptions

    @Option(name: .shortAndLong, help: .init("How many to take back, the newest first.", valueName: "number"))
    var number: Int?

    @Argument(help: "The revision to take back.") var revision: Int?

    func validate() throws {
        try Undoing.check(number)
        if number != nil, revision != nil { throw ValidationError("Say a revision or -n, not both.") }
    }

    func run() async throws {
        if let revision { return try await Undoing.takeBack(revision, options) }
        try await Undoing.steps(.undo, number ?? 1, options)
    }
}

struct Redo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make again what you undid last; others' edits since then stay.",
        discussion: "After an edit of yours there is nothing to redo.")

    @OptionGroup var options: EditOptions
    @Option(name: .shortAndLong, help: .init("Make so many again.", valueName: "number")) var number: Int?

    func validate() throws { try Undoing.check(number) }

    func run() async throws { try await Undoing.steps(.redo, number ?? 1, options) }
}
