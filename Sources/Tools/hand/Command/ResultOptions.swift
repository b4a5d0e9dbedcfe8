import ArgumentParser
import HandFormats

/// How a command prints its result.
struct ResultOptions: ParsableArguments {
    @Flag(help: "Print JSON.") var json = false
    @Flag(name: .shortAndLong, help: "Print no messages.") var quiet = false

    func say(_ text: Printable) {
        if !quiet { Output.message(text) }
    }

    /// Prints the result of a change, as JSON or in words.
    func tell(_ value: @autoclosure () -> JSONValue, _ words: @autoclosure () -> Printable) {
        guard json else { return say(words()) }
        Output.note(done: words())
        Output.json(value())
    }
}
