import HandCore
import HandFormats
import HandWire

/// The lists of the server, or, while it cannot be reached, the lists that this machine has copies of.
struct ListsScreen: TableScreen {
    var table = TableView()
    private(set) var typing: Typing?
    /// The list that the cursor is on, or that the user comes back from.
    private var here: String?
    /// The list that this user deleted last.
    private var lastDeleted: String?
    /// The lists that are being made with the items of other lists, in the order in which they were asked for.
    private var copying: [(source: String, name: String, isMade: Bool)] = []
    /// Whether the lists with something new come first.
    private var isNewFirst = false
    /// The text that the names contain; empty for all lists.
    private var query = ""

    init(at list: String? = nil) {
        here = list
    }

    var route: Route { .lists }

    private func names(_ app: AppState) -> [String] { entries(app)?.map(\.name) ?? app.keptLists.filter(isShown) }

    private func isShown(_ name: String) -> Bool {
        query.isEmpty || name.lowercased().contains(query.lowercased())
    }

    /// The lists in their order on the screen; nil until the server has told them.
    private func entries(_ app: AppState) -> [DownMessage.ListEntry]? {
        let catalog = query.isEmpty ? app.catalog : app.catalog?.filter { isShown($0.name) }
        guard isNewFirst, let catalog else { return catalog }
        return catalog.filter { app.news(of: $0.name) != nil } + catalog.filter { app.news(of: $0.name) == nil }
    }

    func rows(_ app: AppState) -> RowsOfText {
        guard let catalog = entries(app) else {
            let kept = names(app)
            return RowsOfText(kept.count) { [Line(kept[$0], .bold) + Line("  kept on this machine", .dim)] }
        }
        // The first names determine the width of their column.
        let widest = catalog.prefix(1_000).map { Columns.width(of: $0.name) }.max() ?? 0
        let width = min(widest, app.size.columns / 2)
        return RowsOfText(catalog.count) { [Self.line(catalog[$0], app.news(of: catalog[$0].name), width: width)] }
    }

    private static func line(_ entry: DownMessage.ListEntry, _ news: String?, width: Int) -> Line {
        let line = Line(entry.name, .bold).padded(to: width)
        return line + Line("  \(Amount.count(entry.count, "item"))  r\(entry.revision)\(rules(entry.rules))", .dim)
            + Line(news.map { "  \($0)" } ?? "", Style(.green, [.bold]))
    }

    private static func rules(_ rules: Rules) -> String {
        var parts: [String] = []
        if rules.maximumCount != Rules.unlimitedCount { parts.append("at most \(rules.maximumCount)") }
        if let kinds = rules.allowedKinds {
            parts.append(kinds.sorted { $0.rawValue < $1.rawValue }.map(\.name).joined(separator: ", "))
        }
        if rules.hasDeck { parts.append("with a deck") }
        return parts.isEmpty ? "" : "  " + parts.joined(separator: ", ")
    }

    func title(_ app: AppState) -> Line {
        let server = app.serverNames[app.server] ?? "\(app.server)"
        let all = app.catalog?.count ?? app.keptLists.count
        let count =
            query.isEmpty ? app.catalog.map { "  \($0.count)" } : "  \(names(app).count) of \(all) contain '\(query)'"
        return Line("Lists", .bold) + Line(" on \(server)") + Line(count ?? "")
    }

    func emptyText(_ app: AppState) -> [Line] {
        if !query.isEmpty, app.catalog?.isEmpty == false || !app.keptLists.isEmpty {
            return [Line("No list's name contains '\(query)'.", .bold), Line(findItems, .dim)]
        }
        if app.catalog != nil {
            return [
                Line("There are no lists yet.", .bold), Line("\(app.keys.symbol(for: .newList)) makes one.", .dim),
            ]
        }
        return ListText.trouble(app, "\(app.keys.symbol(for: .refresh)) tries again now.")
            ?? [Line("Asking the server…", .dim)]
    }

    func subject(of action: Action, _ app: AppState) -> String? {
        action == .deleteList || action == .rename || action == .share ? selected(app) : nil
    }

    func refusal(of action: Action, _ app: AppState) -> String? {
        let isEmpty = names(app).isEmpty
        return switch action {
        case .open where isEmpty: "there is no list to open"
        case .deleteList where isEmpty: "there is no list to delete"
        case .rename where isEmpty: "there is no list to rename"
        case .share where isEmpty: "there is no list to share"
        case .duplicate where isEmpty: "there is no list to duplicate"
        case .duplicate where entry(selected(app), app)?.rules.hasDeck == true:
            "its cards come from a deck, so nobody can duplicate them"
        case .newList, .deleteList, .rename, .duplicate, .undelete: app.isOnline ? nil : "the server cannot be reached"
        default: nil
        }
    }

    private func entry(_ name: String?, _ app: AppState) -> DownMessage.ListEntry? {
        app.catalog?.first { $0.name == name }
    }

    private func selected(_ app: AppState) -> String? {
        let names = names(app)
        return names.indices.contains(table.cursor) ? names[table.cursor] : nil
    }

    mutating func select(row: Int, _ app: inout AppState) -> [Command] {
        table.move(to: row, in: geometry(app))
        here = selected(app)
        return []
    }

    mutating func performOwn(_ action: Action, count: Int?, _ app: inout AppState) -> [Command]? {
        switch action {
        case .open: return selected(app).map { [.open(.list($0))] } ?? []
        case .newList: return ask(Self.askForName, for: .newList)
        case .deleteList:
            guard let name = selected(app) else { return [] }
            let count = Amount.count(entry(name, app)?.count ?? 0, "item")
            return ask("type its name to delete '\(name)' (\(count)) for everybody:", for: .deleteList(name))
        case .rename:
            guard let name = selected(app) else { return [] }
            return ask("new name of '\(name)':", for: .renameList(name), name)
        case .duplicate:
            guard let name = selected(app) else { return [] }
            return ask("name of the copy of '\(name)':", for: .duplicateList(name), name + " copy")
        case .share: return selected(app).map { [.open(.share($0))] } ?? []
        case .undelete: return ask("name of the deleted list:", for: .undeleteList, lastDeleted ?? "")
        case .newFirst:
            isNewFirst.toggle()
            show(query, app)
            return [.say(isNewFirst ? "what is new comes first" : "the lists are in the order of their names")]
        case .filter: return ask("/", for: .filter, query)
        case .showAll:
            let wasEverything = query.isEmpty
            show("", app)
            return [.say(wasEverything ? "these are all lists" : "all lists are shown")]
        case .refresh: return [.reconnect, .fetchLists]
        default: return nil
        }
    }

    /// Shows the lists whose names contain a text, with the cursor on the same list.
    private mutating func show(_ text: String, _ app: AppState) {
        query = text
        table.follow(to: here.flatMap { names(app).firstIndex(of: $0) } ?? 0)
        table.settle(in: geometry(app))
    }

    /// A typed name without needless blanks.
    private static func name(_ text: some StringProtocol) -> String {
        ListName.composed(text.split(separator: " ").joined(separator: " "))
    }

    private mutating func ask(_ question: String, for purpose: Prompt.Purpose, _ text: String = "") -> [Command] {
        typing = .question(Prompt(purpose: purpose, question: question, editor: LineEditor(text)))
        return []
    }

    private mutating func ask(_ prompt: Prompt, again problem: String) -> [Command] {
        typing = .question(Prompt(purpose: prompt.purpose, question: "\(problem):", editor: prompt.editor))
        return []
    }

    private static let askForName = "name, like Summer trip, or poker / cards max 5:"

    /// How to search what this screen does not load.
    private var findItems: String { "Items of all lists: hand find \(ShellWord.quoted(query))" }

    private mutating func answer(_ prompt: Prompt, _ outcome: Prompt.Outcome, _ app: AppState) -> [Command] {
        typing = outcome == .typed ? .question(prompt) : nil
        if prompt.purpose == .filter {
            show(outcome == .left ? "" : prompt.editor.text, app)
            if outcome == .answered { here = selected(app) ?? here }
            return outcome == .answered && !query.isEmpty ? [.say(findItems)] : []
        }
        guard outcome == .answered else { return [] }
        let name = Self.name(prompt.editor.text)
        switch prompt.purpose {
        case .deleteList(let list):
            return prompt.editor.text == list ? [.deleteList(list)] : [.say("nothing was deleted")]
        case .newList: return create(prompt.editor.text, app)
        case .renameList(let old):
            if name.isEmpty || name == old { return [] }
            if let problem = problem(with: name, app) { return ask(prompt, again: problem) }
            return [.renameList(old, to: name)]
        case .duplicateList(let source):
            if name.isEmpty { return [] }
            if let problem = problem(with: name, app) { return ask(prompt, again: problem) }
            copying.append((source, name, isMade: false))
            return [.follow(source), .create(list: name, entry(source, app)?.rules ?? Rules())]
        case .undeleteList: return name.isEmpty ? [] : [.undeleteList(name)]
        default: return []
        }
    }

    /// Why no list can get that name, as far as this screen knows.
    private func problem(with name: String, _ app: AppState) -> String? {
        ListName.problem(with: name) ?? entry(name, app).map { "there is already a list '\($0.name)'" }
    }

    /// Reads `poker / cards max 5`: a name, optionally followed by the list's rules.
    private mutating func create(_ text: String, _ app: AppState) -> [Command] {
        let parts = text.split(separator: "/", maxSplits: 1).map { $0.split(separator: " ").map(String.init) }
        guard let name = parts.first?.joined(separator: " "), !name.isEmpty else { return [] }
        var words = parts.dropFirst().first ?? []
        if let problem = problem(with: name, app) { return ask("\(problem):", for: .newList, text) }
        var rules = Rules()
        while let word = words.first {
            words.removeFirst()
            if word == "cards" {
                rules.allowedKinds = [.card]
                rules.hasDeck = true
            } else if word == "max", let number = words.first.flatMap({ Int($0) }), number > 0 {
                rules.maximumCount = min(number, Rules.unlimitedCount)
                words.removeFirst()
            } else {
                return ask("'\(word)': expected 'cards' or 'max NUMBER':", for: .newList, text)
            }
        }
        return [.create(list: name, rules)]
    }

    /// The list of that name that the server makes next.
    private func nextCopy(_ name: String) -> Int? { copying.firstIndex { $0.name == name && !$0.isMade } }

    /// A list that is being duplicated, or its copy, has another name now.
    private mutating func renameCopies(_ old: String, to name: String) {
        for index in copying.indices {
            if copying[index].source == old { copying[index].source = name }
            if copying[index].name == old, copying[index].isMade { copying[index].name = name }
        }
    }

    /// Sends the items of the lists that are being duplicated to the new lists, as soon as they are known.
    private mutating func sendCopies(_ app: inout AppState) -> [Command] {
        func isReady(_ copy: (source: String, name: String, isMade: Bool)) -> Bool {
            let data = app.list(copy.source)
            return copy.isMade && (data.state.isLive || data.refusal != nil)
        }
        let ready = copying.filter(isReady)
        copying.removeAll(where: isReady)
        return ready.flatMap { send(from: $0.source, to: $0.name, &app) }
    }

    private func send(from source: String, to name: String, _ app: inout AppState) -> [Command] {
        let data = app.list(source)
        if let refusal = data.refusal { return [.say("nothing was copied from '\(source)': \(refusal)")] }
        if data.hand.isEmpty { return [] }
        let copies = app.mint(data.hand.map(\.content), levels: data.hand.map { Int($0.level) })
        return [
            .transfer(
                ItemTransfer(
                    source: source, target: name, originals: [], copies: copies,
                    what: Amount.count(copies.count, "item")))
        ]
    }

    // MARK: Events

    mutating func takeOwn(_ event: ScreenEvent, _ app: inout AppState) -> [Command] {
        switch event {
        case .appeared, .model(.connection(.online, _)): return app.isOnline ? [.fetchLists] : []
        case .answer(let prompt, let outcome): return answer(prompt, outcome, app)
        case .model(.done(.create(let list, _))):
            here = list
            if let copy = nextCopy(list) { copying[copy].isMade = true }
            return sendCopies(&app) + [.open(.list(list))]
        case .model(.list(let list, .renamed(let name))): renameCopies(list, to: name)
        case .model(.list): return sendCopies(&app)
        case .model(.failed(.create(let list, _), _)): if let copy = nextCopy(list) { copying.remove(at: copy) }
        case .model(.done(.deleteList(let list))):
            (here, lastDeleted) = (nil, list)
            return [.say("'\(list)' is deleted; \(app.keys.symbol(for: .undelete)) brings it back"), .fetchLists]
        case .model(.done(.renameList(_, let name))):
            here = name
            return [.say("the list is called '\(name)' now"), .fetchLists]
        case .model(.done(.undeleteList(let name))):
            here = name
            return [.say("'\(name)' is back"), .fetchLists]
        case .model(.lists), .model(.kept), .model(.news), .model(.seen), .model(.input(.resize)),
            .model(.input(.cursor)):
            if let row = here.flatMap({ names(app).firstIndex(of: $0) }) { table.follow(to: row) }
            table.settle(in: geometry(app))
            here = here ?? selected(app)
            return app.unknownNews.map { .fetchNews(list: $0.list, since: $0.since) }
        default: break
        }
        return []
    }
}
