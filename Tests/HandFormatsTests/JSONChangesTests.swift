import HandCore
import HandFormats
import HandSimulation
import HandTestSupport
import Testing

/// The effects of a delta, in a form that a script can use.
@Suite struct JSONChangesTests {
    private func list(_ texts: String...) -> Hand {
        Hand(
            texts.enumerated().map { Item(id: ItemID(rawValue: UInt64($0 + 1) << 1), content: .task($1, done: false)) })
    }

    @Test func everySortOfChange() throws {
        let old = list("a", "b", "c", "d")
        let new = Item(id: ItemID(rawValue: 99 << 1), content: .note("n"))
        let moved = try Delta([
            .drop(0..<1, .after, Change(text: "d", to: "D")), .insert([new], .after), .keep(1), .delete(1),
            .edit(Change(done: true)),
            .pick(1),
        ])
        let lines = JSON.changes(moved, from: old, to: try old.applying(moved)).line
        func task(_ text: String, _ done: Bool) -> String {
            #"{"kind":"task","text":"\#(text)","done":\#(done),"level":0}"#
        }
        #expect(
            lines == "["
                + #"{"change":"deleted","item":"\#(old[1].id)","from":2,"before":\#(task("b", false))},"#
                + #"{"change":"moved","item":"\#(old[3].id)","from":4,"to":1,"before":\#(task("d", false)),"#
                + #""after":\#(task("D", false))},"#
                + #"{"change":"added","item":"\#(new.id)","to":2,"after":{"kind":"note","text":"n","level":0}},"#
                + #"{"change":"edited","item":"\#(old[2].id)","from":3,"to":4,"before":\#(task("c", false)),"#
                + #""after":\#(task("c", true))}"# + "]")
    }

    /// A script can turn the old list into the new one using only the changes: it removes what is deleted or moved, and
    /// inserts what is moved or added from the top down.
    @Test func aScriptCanFollowThem() throws {
        var chaos = Chaos(seed: testSeed(62))
        for _ in 0..<300 {
            let old = Hand(chaos.items(chaos.random.next(below: 12)))
            let delta = chaos.delta(on: old, size: 6)
            let new = try old.applying(delta)
            func text(_ item: Item) -> String { JSONValue.object(JSON.members(of: item)).line }
            var present = old.map(\.id.description)
            var contents = Dictionary(uniqueKeysWithValues: old.map { ($0.id.description, text($0)) })
            let changes = try JSONField(JSON.changes(delta, from: old, to: new), path: "").elements()
            for change in changes where change["from"].isPresent {
                let id = try change["item"].string()
                #expect(try old[change["from"].count() - 1].id.description == id)
                #expect(change["before"].value?.line == contents[id])
                if try change["change"].string() != "edited" { present.removeAll { $0 == id } }
            }
            for change in changes where change["to"].isPresent {
                let id = try change["item"].string()
                contents[id] = change["after"].value?.line
                if try change["change"].string() != "edited" { present.insert(id, at: try change["to"].count() - 1) }
                #expect(try new[change["to"].count() - 1].id.description == id)
            }
            #expect(present == new.map(\.id.description))
            #expect(new.allSatisfy { text($0) == contents[$0.id.description] })
        }
    }
}
