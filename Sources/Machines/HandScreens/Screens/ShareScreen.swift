import HandFormats

/// How others come to a list: its address, as text and as a QR code.
struct ShareScreen: ListScreens {
    var list: String

    var route: Route { .share(list) }

    func title(_ app: AppState) -> Line { Line(list, .bold) + Line("  for others") }

    mutating func perform(_ action: Action, count: Int?, _ app: inout AppState) -> [Command]? { nil }

    mutating func take(_ event: ScreenEvent, _ app: inout AppState) -> [Command] {
        if case .appeared = event { [.follow(list)] } else { [] }
    }

    func draw(on canvas: inout Canvas, _ app: AppState) {
        let address = "\(HandAddress(server: app.server, list: list))"
        var lines = [Line("hand open \(ShellWord.quoted(address))", .bold)]
        if let limit = limit(app.server) { lines.append(Line(limit, Style(.yellow))) }
        lines.append(
            Line(
                "The address holds no token. A link with one is made on the server's machine: hand share "
                    + ShellWord.quoted(list), .dim))
        let code = app.code(address)
        let width = max(1, canvas.size.columns - 2)
        let textRows = lines.reduce(0) { $0 + Wrapping.lines($1.text, width: width).count }
        if let code, code.size.columns <= width, code.size.rows + textRows <= app.bodyRows {
            let top = ScreenFrame.titleRows + app.bodyRows - code.size.rows
            for (row, line) in code.lines(hasColors: app.hasColors).enumerated() {
                canvas.write(line, at: Point(row: top + row, column: 1))
            }
        } else if let code {
            let (rows, columns) = (code.size.rows + textRows + ScreenFrame.rowsAround, code.size.columns + 2)
            lines.append(Line("For a QR code the terminal must have \(columns) × \(rows) characters.", .dim))
        }
        ScreenFrame.write(lines, on: &canvas, app)
    }

    /// Who cannot use the address of a server; nil if others can.
    private func limit(_ server: HandAddress.Server) -> String? {
        if case .unix = server { return "Only people who are logged in on this machine can open it." }
        guard server.isThisMachine else { return nil }
        let names = server.hosts.map(\.name).joined(separator: ", ")
        return "\(names) is this machine. Others need its name or address in their network instead."
    }
}
