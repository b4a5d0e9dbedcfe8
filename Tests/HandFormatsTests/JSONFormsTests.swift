import HandCore
import HandFormats
import HandSimulation
import HandTestSupport
import HandWire
import Testing

@Suite struct JSONFormsTests {
    private let id = ItemID(rawValue: 1)

    @Test func itemsOfEveryKind() throws {
        let forms: [(Content, String)] = [
            (.card(.faceUp(.queen, .spades)), #""kind":"card","card":"Q♠""#),
            (.card(.faceDown), #""kind":"card","card":"??""#),
            (.note("a\nb"), #""kind":"note","text":"a\nb""#),
            (.task("Milk", done: true), #""kind":"task","text":"Milk","done":true"#),
            (.link("Swift", url: "https://swift.org"), #""kind":"link","text":"Swift","url":"https://swift.org""#),
            (.heading("Dairy"), #""kind":"heading","text":"Dairy""#),
            (.unknown(Content.Kind(rawValue: 900), [0, 1, 255]), #""kind":900,"bytes":"AAH/""#),
        ]
        for (content, form) in forms {
            let item = Item(id: id, content: content)
            #expect(JSON.item(item).line == "{\"id\":\"0000000000002\",\(form),\"level\":0}")
            #expect(try JSON.item(from: JSONField(JSON.item(item))) == item)
        }
    }

    @Test func randomValuesAreReadBack() throws {
        var chaos = Chaos(seed: testSeed(61))
        for _ in 0..<300 {
            let list = NaiveList(chaos.items(chaos.random.next(below: 12)))
            let delta = chaos.delta(on: list, size: 6)
            let commit = Commit(
                revision: 1 + chaos.random.next(below: 1 << 50), author: AuthorID(chaos.random.next()),
                sequence: SequenceNumber(chaos.random.next()),
                base: 0, time: chaos.random.next(), count: list.count, digest: chaos.random.next(), delta: delta)
            let form = JSON.commit(commit, person: "Ada", at: JSON.date(milliseconds: commit.time))
            #expect(try JSON.commit(from: JSONField(JSONValue.parse(form.line))) == commit)
            for change in delta.changes { #expect(try JSON.change(from: JSONField(JSON.change(change))) == change) }
        }
    }

    @Test func aDeltaIsWrittenAndReadBack() throws {
        let line =
            #"[{"keep":3},{"edit":{"text":[{"at":0,"removed":"old","inserted":"new"}],"done":true}},{"delete":2},{"pick":3},"#
            + #"{"insert":[{"id":"0000000000002","kind":"note","text":"n","level":0}],"side":"after"},"#
            + #"{"drop":[0,2],"side":"before"},{"drop":[2,3],"side":"before","change":{"bytes":"AA=="}}]"#
        let delta = try JSON.delta(from: JSONField(JSONValue.parse(line)))
        #expect(JSON.delta(delta).line == line)
        #expect(
            delta.components == [
                .keep(3), .edit(Change(text: "old", to: "new", done: true)), .delete(2), .pick(3),
                .insert([Item(id: id, content: .note("n"))], .after), .drop(0..<2, .before, nil),
                .drop(2..<3, .before, Change(bytes: [0])),
            ])
    }

    @Test func aCommitMayNameItsPersonAndDate() {
        let commit = Commit(
            revision: 7, author: 2, sequence: 3, base: 5, time: 1_767_225_600_250, count: 4, digest: 0xAB,
            delta: Delta.deleting(0..<1))
        let start =
            #"{"revision":7,"author":2,"sequence":3,"base":5,"time":1767225600250,"count":4,"digest":"00000000000000ab","#
            + #""delta":[{"delete":1}]"#
        #expect(JSON.commit(commit).line == start + "}")
        #expect(
            JSON.commit(commit, person: "Ada", at: JSON.date(milliseconds: commit.time)).line
                == start + #","person":"Ada","at":"2026-01-01T00:00:00.250Z"}"#)
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (951_782_399_999, "2000-02-28T23:59:59.999Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"), (951_868_800_000, "2000-03-01T00:00:00.000Z"),
        (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (1_767_225_599_001, "2025-12-31T23:59:59.001Z"),
        (253_402_300_800_000, "10000-01-01T00:00:00.000Z"), ((1 << 53) - 1, "287396-10-12T08:59:00.991Z"),
    ])
    func datesAreWrittenInUTC(milliseconds: UInt64, date: String) {
        #expect(JSON.date(milliseconds: milliseconds) == date)
    }

    @Test func rulesAreWrittenAndReadBack() throws {
        let line = #"{"maximumCount":5,"maximumSize":16384,"maximumLevel":0,"kinds":["card"],"deck":true}"#
        #expect(JSON.rules(.fiveCards).line == line)
        #expect(try JSON.rules(from: JSONField(JSONValue.parse(line))) == .fiveCards)
        #expect(
            JSON.rules(Rules()).line
                == #"{"maximumCount":2147483647,"maximumSize":16384,"maximumLevel":15,"deck":false}"#)
        #expect(try JSON.rules(from: JSONField([:])) == Rules())
        let odd = Rules(allowedKinds: [Content.Kind(rawValue: 900), .note, .card])
        #expect(JSON.rules(odd)["kinds"]?.line == #"["card","note",900]"#)
        #expect(try JSON.rules(from: JSONField(JSON.rules(odd))) == odd)
    }

    @Test(
        arguments: [
            (.violation(.listFull(maximum: 5)), "listFull", #","maximum":5"#),
            (.violation(.kindNotAllowed(.note)), "kindNotAllowed", #","kind":"note""#),
            (.violation(.itemTooLarge(size: 9, maximum: 8)), "itemTooLarge", #","size":9,"maximum":8"#),
            (.violation(.deckEmpty), "deckEmpty", ""),
            (.violation(.cardNotInDeck(.faceUp(.ten, .hearts))), "cardNotInDeck", #","card":"10♥""#),
            (.violation(.cardsAreDealt), "cardsAreDealt", ""),
            (.duplicateItem(ItemID(rawValue: 1)), "duplicateItem", #","item":"0000000000002""#),
            (.doesNotFit(reach: 3, count: 2), "doesNotFit", #","reach":3,"count":2"#),
            (.revisionMoved(now: 9), "revisionMoved", #","revision":9"#),
            (.notStored, "notStored", ""), (.notAllowed, "notAllowed", ""),
            (.tooManyPending(limit: 64), "tooManyPending", #","limit":64"#),
        ] as [(Rejection, String, String)])
    func aRejectionIsWrittenAndReadBack(rejection: Rejection, reason: String, details: String) throws {
        let form = JSON.rejection(rejection)
        let message = JSONValue.string(rejection.description).line
        #expect(form.line == "{\"reason\":\"\(reason)\",\"message\":\(message)\(details)}")
        #expect(try JSON.rejection(from: JSONField(form)) == rejection)
    }

    // MARK: Errors

    @Test(arguments: [
        (
            #"[{"keep":1},{"pick":0},{"insert":[{"id":"0000000000002","kind":"tsk"}],"side":"after"}]"#,
            #"delta[2].insert[0].kind: expected the name of a kind or a number, found "tsk""#
        ),
        (
            #"[{"insert":[{"id":"abc","kind":"note","text":"","level":0}],"side":"after"}]"#,
            #"delta[0].insert[0].id: expected an id of 13 characters, found "abc""#
        ),
        (
            #"[{"insert":[{"id":"0000000000001","kind":"note","text":"","level":0}],"side":"after"}]"#,
            #"delta[0].insert[0].id: expected an id, whose last character is one of 02468acegjmprtwy, found "#
                + #""0000000000001""#
        ),
        (
            #"[{"insert":[{"id":"00000000000u2","kind":"note","text":"","level":0}],"side":"after"}]"#,
            #"delta[0].insert[0].id: expected an id of 13 characters, found "00000000000u2""#
        ),
        (
            #"[{"insert":[{"id":"0000000000002","kind":"note","text":"","done":true,"level":0}],"side":"after"}]"#,
            "delta[0].insert[0].done: expected no such field in a note, found true"
        ),
        (
            #"[{"insert":[{"id":"0000000000002","kind":"task","text":"","level":0}],"side":"after"}]"#,
            "delta[0].insert[0].done: expected true or false, found nothing"
        ),
        (
            #"[{"insert":[{"id":"0000000000002","kind":0,"bytes":"","level":0}],"side":"after"}]"#,
            "delta[0].insert[0].kind: expected the name of a kind or a number, found 0"
        ),
        (
            #"[{"insert":[{"id":"0000000000002","kind":9,"bytes":"A","level":0}],"side":"after"}]"#,
            #"delta[0].insert[0].bytes: expected bytes in base 64 as a text, found "A""#
        ),
        (
            #"[{"edit":{"bytes":"===="}}]"#, #"delta[0].edit.bytes: expected bytes in base 64 as a text, found "====""#
        ),
        (
            #"[{"edit":{"bytes":"AA="}}]"#, #"delta[0].edit.bytes: expected bytes in base 64 as a text, found "AA=""#
        ),
        (
            #"[{"edit":{"bytes":"AB=="}}]"#, #"delta[0].edit.bytes: expected bytes in base 64 as a text, found "AB==""#
        ),
        (
            #"[{"edit":{"bytes":"AA==AA=="}}]"#,
            #"delta[0].edit.bytes: expected bytes in base 64 as a text, found "AA==AA==""#
        ),
        (#"[{"edit":{"card":"1♠"}}]"#, #"delta[0].edit.card: expected a card such as "Q♠" or "??", found "1♠""#),
        (
            #"[{"edit":{"txt":"a"}}]"#,
            #"delta[0].edit: expected only the fields text, done, url, card, bytes, level, found "txt""#
        ),
        (#"[{"keep":1,"side":"after"}]"#, #"delta[0]: expected only the fields keep, found "side""#),
        (#"[{"keep":1.0}]"#, "delta[0].keep: expected a whole number from 0 to 2147483647, found 1.0"),
        (#"[{"keep":true}]"#, "delta[0].keep: expected a whole number from 0 to 2147483647, found true"),
        (
            #"[{"pick":2},{"drop":[1,0],"side":"after"}]"#,
            "delta[1].drop[1]: expected a whole number from 1 to 2147483647, found 0"
        ),
        (
            #"[{"pick":2},{"drop":[0],"side":"after"}]"#,
            "delta[1].drop: expected the first slot and the one after the last, found [0]"
        ),
        (
            #"[{"pick":2},{"drop":[0,1],"side":"after"}]"#,
            #"delta: expected drops that name each of the slots 0 to 1 once, found [{"pick":2},{"drop":[0,1],"side":"after"}]"#
        ),
        (#"[{"pick":2},{"drop":[0,2],"side":"left"}]"#, #"delta[1].side: expected "after" or "before", found "left""#),
        (#"{}"#, "delta: expected an array of components, found {}"),
    ])
    func errorsNameTheField(text: String, message: String) throws {
        let value = try JSONValue.parse(text)
        let error = #expect(throws: FormatError.self) { try JSON.delta(from: JSONField(value, path: "delta")) }
        #expect(error?.description == message)
    }

    @Test func whatIsFoundIsCutShort() throws {
        let long = JSONValue.string(String(repeating: "é", count: 1000))
        let error = #expect(throws: FormatError.self) { try JSON.item(from: JSONField(long)) }
        #expect(error?.description == "expected an item, found \"" + String(repeating: "é", count: 59) + "…")
    }

    @Test func aCommitThatTheCodecCouldNotHoldIsAnError() throws {
        var form = try JSONValue.parse(
            #"{"revision":7,"author":2,"sequence":3,"base":8,"time":0,"count":4,"digest":"00000000000000ab","delta":[]}"#
        )
        let error = #expect(throws: FormatError.self) { try JSON.commit(from: JSONField(form)) }
        #expect(error?.description == "base: expected a whole number from 0 to 6, found 8")
        form = ["revision": 9_007_199_254_740_992]
        #expect(throws: FormatError.self) { try JSON.commit(from: JSONField(form)) }
    }
}
