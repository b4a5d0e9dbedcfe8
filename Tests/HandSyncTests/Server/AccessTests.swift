import HandCore
import HandSync
import HandWire
import Testing

/// The rights to send each message.
@Suite struct AccessTests {
    /// A list with two items, made by an administrator, and a guest who has a role on it.
    private struct Scene {
        let world = TestWorld()
        let root: TestStream
        let guest: TestStream

        init(_ access: Access) {
            world.tokens = ["root": .everything, "guest": access]
            root = world.connect(1, token: "root")
            world.settle()
            for name in ["open", "other"] { root.say(.create(request: 1, name: name, rules: Rules())) }
            world.settle()
            root.subscribe("open", request: 2)
            world.settle()
            for sequence in 1...2 {
                root.submit(SequenceNumber(sequence), base: sequence - 1, "item")
                world.settle()
            }
            guest = world.connect(2, token: "guest")
            world.settle()
            guest.subscribe("open", request: 3)
            world.settle()
        }

        /// Returns the answers that the guest gets.
        func say(_ message: UpMessage) -> [DownMessage] {
            let count = guest.heard.count
            guest.say(message)
            world.settle()
            return Array(guest.heard[count...])
        }
    }

    private static func isDenied(_ answers: [DownMessage]) -> Bool {
        answers.contains { answer in
            switch answer {
            case .error(.notAllowed, _, _, _, _), .error(.noSuchList, _, _, _, _), .rejected(_, _, .notAllowed): true
            default: false
            }
        }
    }

    private static func submission(_ operation: Delta) -> UpMessage {
        .submit(Submission(list: 1, base: 2, sequence: 1, delta: operation))
    }

    private static let item = Item(id: ItemID(rawValue: 99), content: .note("new"))

    /// Every message, and the least role on the list that may send it; for messages that create lists, the role on all
    /// lists.
    private static let table: [(name: String, message: UpMessage, least: Role)] = [
        ("subscribe", .subscribe(.init(request: 9, name: "open", logID: 0, revision: 0)), .read),
        ("unsubscribe", .unsubscribe(list: 1), .none), ("ping", .ping(1), .none),
        ("insert", submission(.inserting([item], at: 1, .after)), .append),
        ("edit", submission(.editing(at: 0, Change(text: TextChange(replacing: "", at: 0, with: "x")))), .write),
        ("delete item", submission(.deleting(0..<1)), .write),
        ("move", submission(.moving(0..<1, to: 2, .after)), .write),
        ("presence", .presence(list: 1, nil), .none), ("lists", .lists(request: 9, after: ""), .none),
        ("create", .create(request: 9, name: "third", rules: Rules()), .write),
        ("delete", .delete(request: 9, name: "open"), .admin),
        ("rename", .rename(request: 9, name: "open", newName: "third"), .admin),
        ("deletedLists", .deletedLists(request: 9, before: nil), .none),
        ("history", .history(request: 9, name: "open", from: 1, limit: 5), .read),
        ("fetch", .fetch(request: 9, name: "open", revision: nil), .read),
        ("excerpt", .excerpt(.init(request: 9, name: "open", [])), .read),
    ]

    @Test(arguments: Role.allCases)
    func everyRoleAllowsItsMessages(role: Role) {
        for (name, message, least) in Self.table {
            let scene = Scene(Access(everywhere: role))
            // Without a role, the list is not followed, so the edit is for a list that is not followed.
            if role == .none, case .submit = message { continue }
            #expect(Self.isDenied(scene.say(message)) == (role < least), "\(role): \(name)")
            #expect(scene.world.machine.brokenInvariant() == nil)
        }
    }

    /// A role on one list does not apply to another list, nor to the server.
    @Test func aRoleOnOneListAppliesToNoOther() {
        let access = Access(everywhere: .none, lists: ["open": .admin])
        #expect(!Self.isDenied(Scene(access).say(Self.submission(.deleting(0..<1)))))
        #expect(!Self.isDenied(Scene(access).say(.delete(request: 9, name: "open"))))
        let elsewhere: [UpMessage] = [
            .subscribe(.init(request: 9, name: "other", logID: 0, revision: 0)), .delete(request: 9, name: "other"),
            .history(request: 9, name: "other", from: 1, limit: 5), .fetch(request: 9, name: "other", revision: nil),
            .create(request: 9, name: "third", rules: Rules()),
            .rename(request: 9, name: "other", newName: "third"), .rename(request: 9, name: "open", newName: "third"),
            .undelete(request: 9, name: "other", deletion: nil, newName: "other"),
            .undelete(request: 9, name: "open", deletion: nil, newName: "third"),
        ]
        for message in elsewhere { #expect(Self.isDenied(Scene(access).say(message)), "\(message)") }
    }

    /// A list that one may not read cannot be distinguished from one that does not exist.
    @Test func guessedNamesRevealNothing() {
        let scene = Scene(Access(everywhere: .none, lists: ["open": .read]))
        func errors(_ name: String) -> [String] {
            let messages: [UpMessage] = [
                .subscribe(.init(request: 9, name: name, logID: 0, revision: 0)), .delete(request: 9, name: name),
                .history(request: 9, name: name, from: 1, limit: 5), .fetch(request: 9, name: name, revision: nil),
                .rename(request: 9, name: name, newName: "third"),
                .undelete(request: 9, name: name, deletion: nil, newName: name),
            ]
            return messages.flatMap { scene.say($0) }.map { "\($0)".replacing(name, with: "NAME") }
        }
        #expect(errors("other") == errors("nothing"))
        let names = scene.say(.lists(request: 9, after: "")).compactMap { answer -> [String]? in
            if case .lists(_, let entries, hasMore: false) = answer { entries.map(\.name) } else { nil }
        }
        #expect(names == [["open"]])
    }

    /// Lists that one may not read are skipped, and nothing reveals their existence.
    @Test func pagesOmitListsOfOthers() {
        var limits = Limits()
        limits.listsPage = 2
        let world = TestWorld(limits: limits)
        world.tokens = ["root": .everything, "guest": Access(everywhere: .none, lists: ["l7": .read])]
        let root = world.connect(1, token: "root")
        world.settle()
        for number in 1...9 { root.say(.create(request: 1, name: "l\(number)", rules: Rules())) }
        world.settle()
        let guest = world.connect(2, token: "guest")
        world.settle()
        guest.say(.lists(request: 5, after: ""))
        world.settle()
        guard case .lists(5, let entries, hasMore: false)? = guest.heard.last else {
            Issue.record("\(guest.heard)")
            return
        }
        #expect(entries.map(\.name) == ["l7"])
    }

    @Test func aMissingOrWrongTokenIsNotAdmitted() {
        for token in [nil, "", "wrong"] {
            let scene = Scene(Access(everywhere: .read))
            let stranger = scene.world.connect(3, token: token)
            stranger.subscribe("open", request: 1)
            stranger.say(.lists(request: 2, after: ""))
            scene.world.settle()
            #expect(stranger.errors == [.notAuthenticated])
            #expect(stranger.heard.count == 1)
        }
    }

    /// The name is the token's, whatever name the client sends.
    @Test func namesComeFromTokens() {
        let scene = Scene(Access(name: "Bob", everywhere: .write))
        scene.world.now += 1_000
        scene.world.timeout()
        scene.world.settle()
        let names = scene.root.heard.compactMap { message -> [String]? in
            guard case .presence(_, let entries) = message else { return nil }
            return entries.compactMap { if case .here(let person, _) = $0.place { person } else { nil } }
        }
        #expect(names.flatMap(\.self).contains("Bob"))
        #expect(!names.flatMap(\.self).contains("p2"))
    }

    /// If others have tokens, no client without one can have the name of a holder, however it is written.
    @Test func guestsAreMarked() {
        var access = Access(everywhere: .write)
        access.isMarked = true
        let world = TestWorld()
        world.tokens = ["guest": access, "ada": Access(name: "ada", everywhere: .write)]
        let long = String(repeating: "é", count: 32)
        for (client, said) in ["ada", "", "ada" + String(repeating: " ", count: 61), long].enumerated() {
            _ = world.connect(UInt64(client), person: said, token: "guest")
            world.settle()
        }
        _ = world.connect(9, person: "(guest) eve", token: "ada")
        world.settle()
        let cut = "(guest) ada" + String(repeating: " ", count: 53)
        #expect(world.letIn == ["(guest) ada", "(guest) somebody", cut, "(guest) " + long.prefix(28), "ada"])
        #expect(world.letIn.allSatisfy { $0.utf8.count <= Limits.personBytes })
    }

    // MARK: Changes while somebody is connected

    /// A guest who connected before the first token was given out cannot have its holder's name either.
    @Test func guestsAreMarkedOnceTheFirstTokenExists() {
        let scene = Scene(Access(everywhere: .write))
        scene.world.accessChanged()
        scene.world.settle()
        #expect(scene.guest.errors.isEmpty)
        scene.world.tokens?["guest"]?.isMarked = true
        scene.world.accessChanged()
        scene.world.settle()
        #expect(scene.guest.errors == [.shuttingDown] && ErrorCode.shuttingDown.mayRetry)
        #expect(scene.root.errors.isEmpty)
    }

    /// What was decided under a role is answered again under every other.
    @Test func aRoleForbidsOnlyWhatIsNew() {
        let scene = Scene(Access(everywhere: .write))
        #expect(scene.say(Self.submission(.deleting(0..<1))).count == 1)
        scene.world.tokens?["guest"] = Access(everywhere: .read)
        scene.world.accessChanged()
        scene.world.settle()
        let again = scene.say(Self.submission(.deleting(0..<1)))
        #expect(again == [.acknowledged(list: 1, sequence: 1, revision: 3)])
        let new = Submission(list: 1, base: 2, sequence: 2, delta: .deleting(0..<1))
        #expect(scene.say(.submit(new)) == [.rejected(list: 1, sequence: 2, .notAllowed)])
    }

    @Test func aRevokedTokenEndsTheConnection() {
        let scene = Scene(Access(everywhere: .write))
        scene.world.tokens?["guest"] = nil
        scene.world.accessChanged()
        scene.world.settle()
        #expect(scene.guest.errors == [.notAuthenticated])
        #expect(scene.root.errors.isEmpty)
        #expect(scene.say(Self.submission(.deleting(0..<1))).isEmpty)
    }

    /// A user who loses several of the lists that they follow gets nothing more of any of them, in whatever order they
    /// were subscribed to, and keeps the others.
    @Test(arguments: 0..<16) func everyLostListIsLeft(lost: Int) throws {
        let names = ["a", "b", "c", "d"]
        let kept = names.indices.filter { lost & 1 << $0 == 0 }.map { names[$0] }
        let world = TestWorld()
        func access(_ names: [String]) -> Access {
            Access(everywhere: .none, lists: Dictionary(uniqueKeysWithValues: names.map { ($0, Role.read) }))
        }
        world.tokens = ["root": .everything, "guest": access(names)]
        let (root, guest) = (world.connect(1, token: "root"), world.connect(2, token: "guest"))
        world.settle()
        for (index, name) in names.enumerated() {
            root.say(.create(request: 1, name: name, rules: Rules()))
            world.settle()
            for stream in [root, guest] { stream.subscribe(name, request: RequestNumber(index + 2)) }
            world.settle()
        }
        // The second time is like the first.
        for round in 1...2 {
            world.tokens?["guest"] = access(kept)
            world.accessChanged()
            world.settle()
            #expect(guest.errors == Array(repeating: .notAllowed, count: (names.count - kept.count) * round))
            let before = guest.commits.count
            for index in names.indices {
                root.insert(UInt64(round), SequenceNumber(round), base: round - 1, list: ListNumber(index + 1))
                world.settle()
            }
            #expect(guest.commits.count - before == kept.count)
            #expect(world.machine.brokenInvariant() == nil)
            world.tokens?["guest"] = access(names)
            world.accessChanged()
            for (index, name) in names.enumerated() where !kept.contains(name) {
                guest.subscribe(name, request: RequestNumber(index + 2))
                world.settle()
            }
        }
    }

    /// Also if the store has not answered yet, either the hello or the subscription.
    @Test func aRevokedRightIsNotUsedByAnEarlierRequest() {
        let scene = Scene(Access(everywhere: .read))
        let late = scene.world.connect(3, token: "guest")
        let count = scene.guest.heard.count
        scene.guest.subscribe("other", request: 7)
        scene.world.tokens?["guest"] = Access(everywhere: .none, lists: ["open": .read])
        scene.world.accessChanged()
        scene.world.settle()
        let answers = scene.guest.heard[count...]
        #expect(answers.contains { if case .error(.noSuchList, 7, _, _, _) = $0 { true } else { false } })
        #expect(!answers.contains { if case .subscribed = $0 { true } else { false } })
        #expect(late.errors.isEmpty)
        let later = scene.world.connect(4, token: "guest")
        scene.world.tokens?["guest"] = nil
        scene.world.accessChanged()
        scene.world.settle()
        #expect(later.errors == [.notAuthenticated])
        #expect(!later.heard.contains { if case .welcome = $0 { true } else { false } })
    }

    /// The same for an excerpt, while the list is loaded or an old revision is read.
    @Test func aRevokedReaderGetsNoExcerpt() {
        let scene = Scene(Access(everywhere: .read))
        let count = scene.guest.heard.count
        scene.guest.say(.excerpt(.init(request: 8, name: "other", [.positions(start: 0, count: 9)])))
        #expect(scene.world.waiting == 1)
        scene.world.tokens?["guest"] = Access(everywhere: .none, lists: ["open": .read])
        scene.world.accessChanged()
        scene.world.settle()
        let answers = scene.guest.heard[count...]
        #expect(answers.contains { if case .error(.noSuchList, 8, _, _, _) = $0 { true } else { false } })
        #expect(!answers.contains { if case .excerpt = $0 { true } else { false } })
    }

    /// Everybody learns their role on all lists, guests and users of a server without roles, too.
    @Test(arguments: Role.allCases) func aClientLearnsItsRole(role: Role) {
        let world = TestWorld()
        func learned(_ client: UInt64, _ token: String?) -> Role? {
            let stream = world.connect(client, token: token)
            world.settle()
            for case .granted(let granted) in stream.heard { return granted.everywhere }
            return nil
        }
        #expect(learned(1, nil) == .admin)
        world.tokens = ["ann": Access(name: "ann", everywhere: role, lists: ["open": .admin])]
        #expect(learned(2, "ann") == role)
    }

    /// A client learns its person's name and roles after the welcome, and again whenever they change.
    @Test func aClientLearnsItsGrants() {
        let world = TestWorld()
        func told(_ stream: TestStream) -> [DownMessage.Granted] {
            world.settle()
            return stream.heard.compactMap { if case .granted(let granted) = $0 { granted } else { nil } }
        }
        func change(_ access: Access?) {
            world.tokens?["ann"] = access
            world.accessChanged()
        }
        world.tokens = ["ann": Access(name: "Ann", everywhere: .read, lists: ["b": .write, "a": .admin, "c": .read])]
        let ann = world.connect(1, token: "ann")
        let first = DownMessage.Granted(
            person: "Ann", everywhere: .read, lists: [.init(name: "a", role: .admin), .init(name: "b", role: .write)])
        #expect(told(ann) == [first])
        guard case .welcome? = ann.heard.first else { return #expect(Bool(false), "the welcome comes first") }
        change(Access(name: "Ann", everywhere: .read, lists: ["b": .write, "a": .admin, "c": .read]))
        #expect(told(ann).count == 1)
        for role in [Role.write, .append, .write] {
            change(Access(name: "Ann", everywhere: role))
            #expect(told(ann).last == DownMessage.Granted(person: "Ann", everywhere: role, lists: []))
        }
        #expect(told(ann).count == 4)
        // With very many roles it is left out.
        let many = Dictionary(uniqueKeysWithValues: (0...1_000).map { ("\($0)", Role.read) })
        change(Access(name: "Ann", everywhere: .none, lists: many))
        #expect(told(ann).count == 4)
        change(nil)
        #expect(told(ann).count == 4 && ann.errors == [.notAuthenticated])
    }

    @Test func aLowerRoleAppliesAtOnce() {
        let scene = Scene(Access(everywhere: .write))
        #expect(!Self.isDenied(scene.say(Self.submission(.deleting(0..<1)))))
        scene.world.tokens?["guest"] = Access(everywhere: .read)
        scene.world.accessChanged()
        let next = Submission(list: 1, base: 3, sequence: 2, delta: Delta.deleting(0..<1))
        #expect(Self.isDenied(scene.say(.submit(next))))
        scene.world.tokens?["guest"] = Access(everywhere: .none, lists: ["other": .read])
        scene.world.accessChanged()
        scene.world.settle()
        #expect(scene.guest.errors == [.notAllowed])
        let count = scene.guest.heard.count
        scene.root.submit(3, base: 3, "secret")
        scene.world.settle()
        #expect(scene.guest.heard.count == count, "unreadable changes are not sent")
        #expect(scene.world.machine.brokenInvariant() == nil)
    }
}
