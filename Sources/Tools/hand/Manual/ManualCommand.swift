import ArgumentParser
import Disk
import HandFormats

/// Writes the manual pages, for packages.
struct ManualCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual", abstract: "Write the manual pages into a folder.",
        discussion: "They are generated from the commands' own help. Read one with: man -l FOLDER/hand.1",
        shouldDisplay: false)

    @Option(help: .init("The folder; it is made if it does not exist.", valueName: "folder"), completion: .directory)
    var output: String

    func run() throws {
        let pages = try CommandPages.all() + FilePages.all()
        try PrivateFile.makeFolder(output)
        for page in pages { try PrivateFile.replace("\(output)/\(page.file)", with: Array(page.text.utf8)) }
        Output.message("wrote \(Amount.count(pages.count, "page"))")
    }
}
