import EventLoop
import FoundationEssentials
import HTTP
import HandFormats
import HandSync
import Logging

/// The requests of the admin socket. Users who may open the socket's file may make all of these requests.
///
///     GET  /report                      a `ServerReport`
///     GET  /connections                 all connections
///     GET  /page                        the address of the page, or an empty line
///     GET  /address                     the address for links, or an empty line
///     GET  /access                      reads the access rules again; returns the fingerprint of those in force
///     POST /connections/NUMBER/close
///     POST /drain?within=SECONDS        accepts no new connections; stops when the last has gone or the time is up
///     POST /log-level?to=LEVEL
///     POST /compact                     frees unused space of the store
///     POST /backup?to=PATH              copies the store into a file
extension Server {
    private static let maxRows = 100

    func answerAdmin(_ request: HTTPEndpoint.Request, _ page: @escaping (HTTPEndpoint.Page) -> Void) {
        if request.method == "POST" {
            let order = request.path.joined(separator: "/")
            logger.notice("operator's command", metadata: ["command": "\(order)"])
            driver.audit?.record(order: order)
        }
        switch (request.method, request.path.first, request.path.count) {
        case ("GET", "report", 1):
            var report = self.report
            report.lists = Array(machine.listReports().prefix(Self.maxRows))
            report.connections = machine.connectionReports(limit: Self.maxRows)
            page(Self.json(report))
        case ("GET", "connections", 1): page(Self.json(machine.connectionReports()))
        case ("GET", "page", 1): page(.init(body: (pageAddress ?? "") + "\n"))
        case ("GET", "address", 1): page(.init(body: (sharedAddress ?? "") + "\n"))
        case ("GET", "access", 1):
            guard let access else { return page(Self.refusal("this server has no access rules")) }
            access.readAnew { result in
                switch result {
                case .success(let fingerprint): page(.init(body: fingerprint + "\n"))
                case .failure(let problem): page(Self.failure(problem.text))
                }
            }
        case ("POST", "connections", 3) where request.path[2] == "close": close(request.path[1], page)
        case ("POST", "drain", 1):
            guard let seconds = Double(request.query["within"] ?? "60"), seconds >= 0, seconds <= 86_400 else {
                return page(Self.refusal("within: expected 0 to 86400 seconds"))
            }
            drain(within: seconds)
            let count = Amount.count(machine.connectionCount, "connection")
            page(.init(body: "draining: \(count); the server stops within \(Amount.number(seconds)) s\n"))
        case ("POST", "log-level", 1): setLogLevel(request.query["to"] ?? "", page)
        case ("POST", "compact", 1): compactStore(page)
        case ("POST", "backup", 1): backUp(request.query["to"] ?? "", page)
        default: page(.init(status: "404 Not Found", body: "There is no page of that name.\n"))
        }
    }

    private func close(_ text: String, _ page: (HTTPEndpoint.Page) -> Void) {
        guard let number = UInt64(text), machine.close(connection: number, at: driver.time) else {
            return page(.init(status: "404 Not Found", body: "there is no connection with that number\n"))
        }
        page(.init(body: "closed\n"))
    }

    private func setLogLevel(_ text: String, _ page: (HTTPEndpoint.Page) -> Void) {
        guard let level = Logger.Level(rawValue: text) else {
            let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            return page(Self.refusal("to: expected one of \(levels)"))
        }
        configuration.log?.level = level
        page(.init(body: "logs from \(level) on\n"))
    }

    private func compactStore(_ page: @escaping (HTTPEndpoint.Page) -> Void) {
        driver.compact { result in
            switch result {
            case .success(let sizes):
                page(.init(body: "\(Amount.bytes(sizes.before)) → \(Amount.bytes(sizes.after))\n"))
            case .failure(let error): page(Self.failure("\(error)"))
            }
        }
    }

    private func backUp(_ path: String, _ page: @escaping (HTTPEndpoint.Page) -> Void) {
        guard path.hasPrefix("/") else { return page(Self.refusal("to: expected the absolute path of a file")) }
        guard let backup = configuration.backup else {
            return page(Self.refusal("this server does not store its lists on disk"))
        }
        driver.threads.compute { () -> String? in
            do {
                try backup(path)
                return nil
            } catch {
                return "\(error)"
            }
        } then: { problem in
            page(problem.map(Self.failure) ?? .init(body: "wrote \(path)\n"))
        }
    }

    private static func refusal(_ text: String) -> HTTPEndpoint.Page {
        .init(status: "400 Bad Request", body: text + "\n")
    }

    private static func failure(_ text: String) -> HTTPEndpoint.Page {
        .init(status: "500 Internal Server Error", body: text + "\n")
    }

    private static func json(_ value: some Encodable) -> HTTPEndpoint.Page {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let text = (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
        return .init(type: "application/json", body: text + "\n")
    }
}
