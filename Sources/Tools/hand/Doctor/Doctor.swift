import ArgumentParser
import HandFormats

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Check everything that hand needs, and say how to fix problems.",
        discussion: """
            Checks the settings, this machine's copies of lists, the terminal, the system's limits, and the server: whether it can \
            be reached, its certificate, the clock, and what you may do there. It changes no list, no \
            setting and no edit that waits. Exits with 1 if there is a \
            problem, or with 6 if the server cannot be reached.
            """)

    @OptionGroup var server: ServerOptions

    func run() async throws {
        var all: [Diagnosis] = []
        func report(_ new: [Diagnosis]) {
            all += new
            for diagnosis in new {
                if server.json { Output.json(diagnosis.json) } else { Output.line(diagnosis.text) }
            }
        }
        report(SettingsCheck.all(server.user))
        report(FoldersCheck.all())
        report(JournalCheck.all(server))
        report(EnvironmentCheck.all())
        let found = await ServerCheck(server).all()
        report(found.diagnoses)
        let worst = all.map(\.verdict).max() ?? .ok
        if worst == .ok { server.say("everything is as it should be") }
        if !found.isReached { Output.exit(.unreachable) }
        if worst == .problem { Output.exit(.error) }
    }
}
