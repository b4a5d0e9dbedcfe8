import ArgumentParser
import HandClient
import HandFormats

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check what hand needs here, and say what to do where something is missing.",
        discussion: """
            Looks at the settings, what this machine keeps, the terminal, the limits of the system, and the server: whether it \
            can be reached, its certificate, the clock, and what you may read there. It changes nothing. Exits with 1 if there \
            is a problem, or with 6 if the server cannot be reached.
            """)

    @OptionGroup var server: ServerOptions

    func run() async throws {
        var all: [Diagnosis] = []
        func report(_ some: [Diagnosis]) {
            all += some
            for diagnosis in some {
                if server.json { Output.json(diagnosis.json) } else { Output.line(diagnosis.text) }
            }
        }
        report(SettingsCheck.all(server.user))
        report(JournalCheck.all())
        report(SurroundingsCheck.all())
        let found = await ServerCheck(server).all()
        report(found.diagnoses)
        let worst = all.map(\.verdict).max() ?? .ok
        if worst == .ok { server.say("everything is as it should be") }
        if !found.isReached { Output.exit(.unreachable) }
        if worst == .problem { Output.exit(.error) }
    }
}
