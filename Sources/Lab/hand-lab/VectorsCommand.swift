import ArgumentParser
import HandVectors

struct VectorsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vectors", abstract: "Compute test vectors, for authors of other clients.",
        discussion:
            "Reads questions from standard input, one JSON object per line, and writes the answers to standard output. "
            + "See Tests/Data/Vectors/README.md.")

    @Flag(help: "Compare each line's \"expect\" with the answer, and print only the differences.")
    var check = false

    func run() throws {
        var failures = 0
        var number = 0
        while let line = readLine() {
            number += 1
            if line.isEmpty { continue }
            if !check {
                print(Vectors.answer(line: line))
            } else if let mismatch = Vectors.mismatch(in: line) {
                failures += 1
                print("line \(number): \(mismatch)")
            }
        }
        if failures > 0 { throw LabError(description: "\(failures) of \(number) vectors differ") }
    }
}
