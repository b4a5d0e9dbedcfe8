import Foundation

/// Reads standard input.
enum StandardInput {
    /// All of standard input.
    ///
    /// - Throws: `Failure` if it is not UTF-8: replacement characters would put a different text into a list.
    static func text() throws -> String {
        let data = FileHandle.standardInput.readDataToEndOfFile()
        if let text = String(validating: data, as: UTF8.self) { return text }
        throw Failure(.error, "standard input is not UTF-8")
    }
}
