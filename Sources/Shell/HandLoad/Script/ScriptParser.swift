import HandCore

extension Script {
    /// Parses a script: one statement per line, blocks closed by `end`, comments after `#`.
    ///
    /// - Throws: `ScriptError` with the first place that cannot be parsed, and what was expected there.
    package init(parsing source: String) throws(ScriptError) {
        var parser = ScriptParser()
        var number = 0
        for text in source.split(omittingEmptySubsequences: false, whereSeparator: { ["\n", "\r\n"].contains($0) }) {
            number += 1
            var line = try ScriptLine(text, number: number)
            if line.isEmpty { continue }
            try parser.take(&line)
        }
        self = try parser.finish(lines: number)
    }
}

struct ScriptParser {
    private struct Block {
        enum Kind {
            case loop(Int?)
            case offline(ClosedRange<Int>)
            case choose([Script.Choice])
            case role(String, Script.Share)
        }

        var kind: Kind
        var body: [Script.Statement] = []
        let line: Int
        /// The weight of the block itself, within a `choose`.
        let weight: Int?

        var isOffline: Bool {
            if case .offline = kind { true } else { false }
        }
    }

    private var script = Script()
    private var blocks: [Block] = []
    private var hasSettings: Set<String> = []

    mutating func take(_ line: inout ScriptLine) throws(ScriptError) {
        if line.take("end") {
            try line.end()
            return try endBlock(at: line)
        }
        if line.take("role") { return try beginRole(&line) }
        if try takeSetting(&line) { return try line.end() }
        if blocks.isEmpty { blocks.append(Block(kind: .role("client", .rest), line: line.number, weight: nil)) }
        var weight: Int?
        if case .choose? = blocks.last?.kind { weight = try line.number("a weight", in: 1...1_000) }
        if try beginBlock(&line, weight: weight) { return try line.end() }
        let statement = try line.statement()
        try line.end()
        add(statement, weight: weight)
    }

    mutating func finish(lines: Int) throws(ScriptError) -> Script {
        try endRole()
        guard !script.roles.isEmpty else {
            throw ScriptError(
                line: max(1, lines), column: 1, message: "expected at least one statement, such as 'loop'")
        }
        if hasSettings.contains("clients") { try script.checkShares(of: script.clients) }
        let named = script.roles.filter { $0.share == .rest }
        if named.count > 1 {
            throw ScriptError(
                line: max(1, lines), column: 1,
                message: "the roles '\(named[0].name)' and '\(named[1].name)' both get the rest of the clients")
        }
        return script
    }

    // MARK: Settings

    /// Settings come before all roles and statements, each at most once.
    private mutating func takeSetting(_ line: inout ScriptLine) throws(ScriptError) -> Bool {
        let settings = ["clients", "list", "lists", "items", "rules"]
        guard let name = line.peeked?.text, settings.contains(name) else { return false }
        guard blocks.isEmpty && script.roles.isEmpty else {
            throw line.error("'\(name)' must come before all roles and statements")
        }
        guard hasSettings.insert(name).inserted else { throw line.error("'\(name)' is set a second time") }
        _ = line.take()
        switch name {
        case "clients": script.clients = try line.number("a number of clients", in: 1...100_000)
        case "lists": script.lists = try line.number("a number of lists", in: 1...10_000)
        case "items": script.items = try line.number("a number of items", in: 0...10_000_000)
        case "list":
            guard let word = line.take(), word.form != .comma, !word.text.isEmpty else {
                throw line.expected("the list's name")
            }
            script.list = word.text
        default: script.rules = try line.rules()
        }
        return true
    }

    // MARK: Blocks

    private mutating func beginRole(_ line: inout ScriptLine) throws(ScriptError) {
        try endRole()
        guard let word = line.take(), word.form != .comma else { throw line.expected("the role's name") }
        if script.roles.contains(where: { $0.name == word.text }) {
            throw line.error("there is already a role '\(word.text)'", column: word.column)
        }
        let share: Script.Share
        if line.take("rest") || line.isAtEnd {
            share = .rest
        } else if line.peeked?.text.hasSuffix("%") == true {
            share = .percent(try line.number("a share", in: 1...100, suffix: "%"))
        } else {
            share = .count(try line.number("a number of clients, a share such as 10%, or 'rest'", in: 1...100_000))
        }
        try line.end()
        blocks.append(Block(kind: .role(word.text, share), line: line.number, weight: nil))
    }

    /// Ends a role, where the next one begins or at the end of the script.
    private mutating func endRole() throws(ScriptError) {
        guard let block = blocks.last else { return }
        guard case .role(let name, let share) = block.kind else {
            throw ScriptError(line: block.line, column: 1, message: "this block has no 'end'")
        }
        guard !block.body.isEmpty else {
            throw ScriptError(line: block.line, column: 1, message: "the role '\(name)' does nothing")
        }
        script.roles.append(Script.Role(name: name, share: share, body: block.body, line: block.line))
        blocks = []
    }

    private mutating func beginBlock(_ line: inout ScriptLine, weight: Int?) throws(ScriptError) -> Bool {
        let kind: Block.Kind
        if line.take("loop") {
            if line.isAtEnd, blocks.contains(where: \.isOffline) {
                throw line.expected("a number of times; an endless loop would never come back from 'offline'")
            }
            kind = .loop(line.isAtEnd ? nil : try line.number("a number of times", in: 1...Int(Int32.max)))
        } else if line.take("choose") {
            kind = .choose([])
        } else if line.take("offline") {
            let time = try line.durations()
            guard line.take("with") else {
                add(.offline(time, []), weight: weight)
                return true
            }
            kind = .offline(time)
        } else {
            return false
        }
        blocks.append(Block(kind: kind, line: line.number, weight: weight))
        return true
    }

    private mutating func endBlock(at line: ScriptLine) throws(ScriptError) {
        guard let block = blocks.popLast() else { throw line.error("there is no block to end here", column: 1) }
        var isEmpty = block.body.isEmpty
        let statement: Script.Statement
        switch block.kind {
        case .role: throw line.error("there is no block to end here; a role ends by itself", column: 1)
        case .loop(let count): statement = .loop(count, block.body)
        case .offline(let time): statement = .offline(time, block.body)
        case .choose(let choices): (statement, isEmpty) = (.choose(choices), choices.isEmpty)
        }
        if isEmpty { throw line.error("the block of line \(block.line) does nothing", column: 1) }
        add(statement, weight: block.weight)
    }

    private mutating func add(_ statement: Script.Statement, weight: Int?) {
        let last = blocks.count - 1
        if case .choose(let choices) = blocks[last].kind {
            blocks[last].kind = .choose(choices + [Script.Choice(weight: weight ?? 1, body: statement)])
        } else {
            blocks[last].body.append(statement)
        }
    }
}

// MARK: - One line

extension ScriptLine {
    fileprivate mutating func statement() throws(ScriptError) -> Script.Statement {
        let start = self
        switch take()?.text {
        case "add":
            let content = Script.Content.allCases.first { take($0.rawValue) } ?? .task
            let text = try text("the item's text")
            return .add(content, text, take("at") ? try place("a place") : .end)
        case "move":
            let from = try place("an item")
            try expect("to")
            return .move(from, to: try place("a place"))
        case "delete": return .delete(try place("an item"))
        case "edit":
            let item = try place("an item")
            try expect("to")
            return .edit(item, try text("the new text"))
        case "tick": return .tick(try place("an item"))
        case "deal": return .deal(isAtEnd ? 1 : try number("a number of cards", in: 1...52))
        case "undo": return .undo
        case "redo": return .redo
        case "pause": return .pause(try durations())
        case "disconnect": return .disconnect
        case "stall": return .stall(try durations())
        case "expect":
            try expect("converged")
            return .expectConverged
        default:
            throw start.expected(
                "a statement (add, move, delete, edit, tick, deal, undo, redo, pause, offline, disconnect, "
                    + "stall, expect, loop, choose, role)")
        }
    }

    private mutating func place(_ what: String) throws(ScriptError) -> Script.Place {
        if take("random") { return .random }
        if take("top") { return .top }
        if take("end") { return .end }
        if let word = peeked, word.form == .word, let number = Int(word.text), number >= 1 {
            _ = take()
            return .number(number)
        }
        throw expected("\(what): top, end, random or a number from 1")
    }

    fileprivate mutating func rules() throws(ScriptError) -> Rules {
        var rules = Rules()
        repeat {
            if take("max-items") {
                rules.maximumCount = try number("a maximum number of items", in: 1...Int(Int32.max))
            } else if take("max-bytes") {
                rules.maximumSize = try number("a maximum size in bytes", in: 1...1 << 20)
            } else if take("deck") {
                rules.hasDeck = true
            } else {
                throw expected("a rule: max-items N, max-bytes N or deck")
            }
        } while take(",")
        return rules
    }
}
