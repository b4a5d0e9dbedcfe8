import ArgumentParser
import EventLoop
import HTTP
import HandScreens
import HandSync

struct Top: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top", abstract: "Watch a running server on this machine, or all servers that share a database.",
        discussion: """
            A live view, refreshed every second. s sorts the lists by another column, S the connections, / searches for a \
            name, j and k choose a connection and x closes it, q quits. It uses the server's admin socket, like 'hand \
            admin', which only the server's user may open. 'hand admin report' prints the same once, as JSON.

            With --all it shows all servers that share a database (--store): their connections and rates, and which are silent.
            """)

    @OptionGroup var options: AdminOptions
    @Flag(help: "Show all servers that share a database.") var all = false
    @OptionGroup var shared: SharedStoreOptions

    func run() throws {
        if all { return try FleetWatch.run(try shared.opened()) }
        // The first request comes before the terminal is taken over, so that an error is printed on the ordinary
        // screen.
        let first = try AdminOptions.decoded(try options.ask("/report"), as: ServerReport.self)
        let (path, view) = (try options.path, try LiveView())
        view.run(TopWatch(view, at: path, first))
    }
}

/// Requests a server's report, and shows it.
private final class TopWatch: LiveContent {
    private let view: LiveView
    private let path: String
    private var report: ServerReport
    private var previous: ServerReport?
    private var problem: String?
    /// Whether the problem is a missing report.
    private var isLost = false
    private var choice = TopChoice()

    init(_ view: LiveView, at path: String, _ first: ServerReport) {
        (self.view, self.path, report) = (view, path, first)
    }

    func canvas(_ size: Size) -> Canvas { TopView(report, since: previous, choice).canvas(size, said: problem) }

    func take(_ key: Key) -> TopChoice.Wish? {
        problem = nil
        let wish = choice.take(key, among: TopView(report, since: previous, choice).connections)
        if case .close(let number) = wish { close(number) }
        return wish
    }

    /// Asks the server to close a connection, and shows the result.
    private func close(_ number: UInt64) {
        let target = "/connections/\(number)/close"
        HTTPExchange(view.loop, at: .unix(path), target, method: "POST", timeout: 5_000) { [weak self] answer in
            guard let self else { return }
            do {
                _ = try AdminOptions.text(answer, from: path)
                problem = "connection \(number) is closed"
            } catch {
                problem = Failure(error).message
            }
            view.draw()
        }
    }

    func ask() {
        HTTPExchange(view.loop, at: .unix(path), "/report", timeout: 5_000) { [weak self] in self?.take($0) }
    }

    private func take(_ answer: Result<HTTPExchange.Answer, HTTPError>) {
        do {
            let text = try AdminOptions.text(answer, from: path)
            let next = try AdminOptions.decoded(text, as: ServerReport.self)
            (previous, report) = (report, next)
            if isLost { (isLost, problem) = (false, nil) }
        } catch {
            (isLost, problem) = (true, Failure(error).message)
        }
        view.drawAndAskLater()
    }
}
