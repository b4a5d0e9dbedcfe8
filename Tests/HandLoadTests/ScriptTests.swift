import HandCore
import HandLoad
import Testing

@Suite struct ScriptTests {
    @Test(arguments: BuiltinScript.allCases)
    func builtInScriptsAreParsed(builtin: BuiltinScript) throws {
        let script = try Script(parsing: builtin.source)
        #expect(script.parts(of: 100).count == 100)
        var run = ScriptRun(script.roles[0], client: 0, seed: 1)
        for _ in 0..<1_000 { #expect(run.next() != .finished) }
    }

    @Test func allStatementsAreParsed() throws {
        let script = try Script(
            parsing: """
                # everything that there is
                clients 7
                list "two words"
                lists 2
                items 10
                rules max-items 50, max-bytes 100, deck
                role one 2
                  add note "a {client}" at top
                  move 3 to end
                  pause 10ms to 20ms   # a remark
                role two 50%
                  loop 3
                    choose
                      3 delete random
                      1 loop 2
                        tick random
                      end
                    end
                    edit end to "x # no remark"
                    offline 1.5s with
                      undo
                      redo
                    end
                    offline 2m
                    disconnect
                    stall 1s to 2s
                    expect converged
                    deal 3
                  end
                role three rest
                  add word
                """)
        #expect((script.clients, script.list, script.lists, script.items) == (7, "two words", 2, 10))
        #expect(script.names == ["two words-1", "two words-2"])
        #expect(script.rules == Rules(maximumCount: 50, maximumSize: 100, hasDeck: true))
        #expect(script.parts(of: 7).map(\.name) == ["one", "one", "two", "two", "two", "three", "three"])
        #expect(script.parts(of: 1).map(\.name) == ["one"])
        #expect(script.needsReplicas)
        guard case .loop(3, let body) = script.roles[1].body[0] else {
            Issue.record("expected a loop")
            return
        }
        #expect(body.count == 8)
        #expect(body[3] == .offline(120_000...120_000, []))
        #expect(body[5] == .stall(1_000...2_000))
    }

    /// The position of the error, and what was expected.
    @Test(arguments: [
        ("loop\n  add x at botom\nend", 2, 12, "expected a place: top, end, random or a number from 1, found 'botom'"),
        ("add", 1, 4, "expected the item's text, found the end of the line"),
        ("add \"no end", 1, 5, "the quotation does not end"),
        ("add \"a {clint}\"", 1, 8, "expected one of {client}, {iteration}, {random}, {role}, found '{clint}'"),
        ("add \"a } b\"", 1, 8, "a single '}'; write '}}' for the character"),
        ("clients 0\nadd x", 1, 9, "expected a number of clients from 1 to 100000, found '0'"),
        ("add x\nclients 5", 2, 1, "'clients' must come before all roles and statements"),
        ("clients 5\nclients 6\nadd x", 2, 1, "'clients' is set a second time"),
        ("loop 3\n  add x", 1, 1, "this block has no 'end'"),
        ("end", 1, 1, "there is no block to end here"),
        ("loop\nend", 2, 1, "the block of line 1 does nothing"),
        ("choose\n  add x\nend", 2, 3, "expected a weight from 1 to 1000, found 'add'"),
        ("pause 10", 1, 7, "expected a time such as 50ms, 5s or 2m, found '10'"),
        ("pause 10ms to 5ms", 1, 12, "expected a time that is not shorter than the first"),
        ("add x at top now", 1, 14, "expected the end of the line, found 'now'"),
        ("role a 5\nadd x\nrole a 5\nadd x", 3, 6, "there is already a role 'a'"),
        ("role a 5\nrole b 5\nadd x", 1, 1, "the role 'a' does nothing"),
        ("", 1, 1, "expected at least one statement, such as 'loop'"),
        (
            "offline 1s with\nloop\nadd x\nend\nend", 2, 5,
            "expected a number of times; an endless loop would never come back from 'offline', found the end of the line"
        ),
        (
            "clients 5\nrole b 1\nadd x\nrole a 10\nadd x", 4, 1,
            "the role 'a' needs 10 clients, 4 of 5 are left; give it fewer, or the test more clients"
        ),
        (
            "clients 5\nrole a 10\nadd x", 2, 1,
            "the role 'a' needs 10 clients, there are 5; give it fewer, or the test more clients"
        ),
        (
            "clients 10\nrole a 60%\nadd x\nrole b 50%\nadd x", 4, 1,
            "the role 'b' needs 5 clients, 4 of 10 are left; give it a smaller share"
        ),
        (
            "fly to random", 1, 1,
            "expected a statement (add, move, delete, edit, tick, deal, undo, redo, pause, offline, disconnect, stall, expect, loop, choose, role), found 'fly'"
        ),
    ])
    func errorsHavePositions(source: String, line: Int, column: Int, message: String) {
        do {
            _ = try Script(parsing: source)
            Issue.record("it reads")
        } catch {
            #expect(error.message == message)
            #expect((error.line, error.column) == (line, column), "\(error)")
        }
    }

    /// Without 'clients', the script leaves the number of clients to the test.
    @Test func sharesMustFitTheNumberOfClients() throws {
        let script = try Script(parsing: "role a 20\nadd x\nrole b 50%\nadd x\nrole c\nadd x")
        try script.checkShares(of: 40)
        let names = script.parts(of: 41).map(\.name)
        #expect(names == Array(repeating: "a", count: 20) + Array(repeating: "b", count: 20) + ["c"])
        for clients in [1, 19, 20, 38] {
            #expect(throws: ScriptError.self, "\(clients)") { try script.checkShares(of: clients) }
        }
        for builtin in BuiltinScript.allCases { try Script(parsing: builtin.source).checkShares(of: 1) }
    }

    @Test func aSeedGivesTheSameSteps() throws {
        let script = try Script(parsing: BuiltinScript.editing.source)
        func steps(client: Int, seed: UInt64) -> [ScriptRun.Step] {
            var run = ScriptRun(script.roles[0], client: client, seed: seed)
            return (0..<100).map { _ in run.next() }
        }
        #expect(steps(client: 3, seed: 5) == steps(client: 3, seed: 5))
        #expect(steps(client: 3, seed: 5) != steps(client: 4, seed: 5))
        #expect(steps(client: 3, seed: 5) != steps(client: 3, seed: 6))
    }

    @Test func variablesAndLoops() throws {
        let script = try Script(
            parsing: """
                loop 2
                  add "{client}.{iteration} {{{role}}}"
                  loop 2
                    add note "in {iteration}" at 2
                  end
                end
                offline 10ms with
                  delete top
                end
                """)
        var run = ScriptRun(script.roles[0], client: 4, seed: 1)
        var texts: [String] = []
        var rest: [ScriptRun.Step] = []
        while true {
            let step = run.next()
            if step == .finished { break }
            if case .edit(.add(let content, _)) = step { texts.append(content.text) } else { rest.append(step) }
        }
        #expect(texts == ["5.1 {client}", "in 1", "in 2", "5.2 {client}", "in 1", "in 2"])
        #expect(rest.count == 3)
        #expect(rest.first == .goOffline(10) && rest.last == .goOnline)
    }

    /// Weights are kept approximately; and each position is inside the list.
    @Test func weightsAreKeptApproximately() throws {
        let script = try Script(
            parsing: "loop\nchoose\n3 delete random\n1 move end to top\nend\nend")
        var run = ScriptRun(script.roles[0], client: 0, seed: 9)
        var deletes = 0
        for _ in 0..<4_000 {
            switch run.next() {
            case .edit(.delete(let spot)):
                deletes += 1
                #expect((0..<7).contains(spot.index(of: 7)) && spot.index(of: 1) == 0)
            case .edit(.move(let from, let to)): #expect(from.index(of: 7) == 6 && to.gap(of: 7) == 0)
            default: Issue.record("something else")
            }
        }
        #expect((2_850...3_150).contains(deletes))
    }
}
