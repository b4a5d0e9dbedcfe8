import Foundation
import Glibc
import HandCore
import HandServer
import HandSync
import HandWire
import Testing

/// A person's identity to a server, from their credentials and their address.
@Suite struct AccessBookTests {
    private let now = Date(timeIntervalSince1970: 1_000_000)

    private func grant(_ book: AccessBook, _ secret: String? = nil, from caller: Caller = .thisMachine) -> Grant? {
        book.grant(secret: secret, from: caller, at: now)
    }

    /// A role is on the list that had the name when the role was given, whatever its name is now; or on the next list
    /// of that name.
    @Test func rolesAreOnListsNotOnNames() throws {
        var book = AccessBook()
        let ada = book.add(name: "ada", role: .write, lists: ["old"], at: now).token
        let ben = book.add(name: "ben", role: .read, lists: ["new", "old"], at: now).token
        var lists: [String: UInt32] = ["old": 7]
        func bind() -> Bool { book.bind({ lists[$0] }, { list in lists.first { $0.value == list }?.key }) }
        func access(_ token: AccessBook.Token) throws -> Access {
            try #require(book.access(again: token.id, from: .thisMachine, at: now))
        }
        func roles(_ token: AccessBook.Token) throws -> [Role] {
            let access = try access(token)
            return [access.role(onListNamed: "old"), access.role(onListNamed: "new")]
        }
        #expect(bind() && !bind())
        #expect(try roles(ada) == [.write, .none] && roles(ben) == [.read, .read])
        let those = book.ofListsThatAreThere
        #expect(!book.awaitedLists.isEmpty && those.awaitedLists.isEmpty)
        #expect(those.access(again: ben.id, from: .thisMachine, at: now)?.lists == ["old": .read])
        // Before anybody has noticed that other lists have the names now.
        func role(on name: String, _ number: UInt64) throws -> Role {
            try access(ada).role(
                on: StoredList(
                    number: ListNumber(number), name: name, logID: number, rules: Rules(), revision: 0, count: 0))
        }
        #expect(try role(on: "old", 7) == .write && role(on: "fresh", 7) == .write && role(on: "old", 8) == .none)
        // It is renamed, and another gets its name.
        lists = ["fresh": 7]
        #expect(book.called(7, "fresh") && !book.called(8, "old") && !bind())
        #expect(try roles(ada) == [.none, .none] && access(ada).role(onListNamed: "fresh") == .write)
        // It is deleted; a new list of that name is another list.
        #expect(book.called(7, nil) && !book.called(9, "fresh"))
        #expect(
            try access(ada) == Access(tokenID: ada.id, name: "ada", everywhere: .none, deleted: [7: .write]))
        #expect(try access(ben).lists == ["new": .read])
        // It is restored under a name for which somebody has a role: their role is for the next list that gets the
        // name.
        #expect(book.called(7, "new") == true)
        #expect(try roles(ada) == [.none, .write] && roles(ben) == [.none, .read])
        #expect(try access(ben).deleted == [:])
        // Changes made while no server ran are noticed at the next check.
        lists = ["other": 7]
        #expect(bind() && !bind())
        #expect(try access(ada).lists == ["other": .write])
        lists = [:]
        #expect(bind())
        let without = book.change(ada.id, to: .none, lists: ["other"])
        #expect(without?.listRoles == [])
    }

    /// If nobody has a token, guests are not marked. Names from the system are trusted.
    @Test func guestsAreMarkedIfTokensExist() throws {
        var book = AccessBook()
        book.guests.remote = .read
        func isMarked(_ caller: Caller) throws -> Bool { try #require(grant(book, from: caller)).access.isMarked }
        #expect(try !isMarked(.thisMachine) && !isMarked(.address("10.0.0.1")))
        let (token, secret) = book.add(name: "ada", role: .read, at: now)
        #expect(try isMarked(.thisMachine) && isMarked(.address("10.0.0.1")))
        #expect(try !isMarked(.user(1_000, name: "ada")))
        #expect(grant(book, secret)?.access == Access(tokenID: token.id, name: "ada", everywhere: .read))
        _ = book.revoke(token.id)
        #expect(try !isMarked(.thisMachine))
    }

    /// A name in decomposed Unicode is the name of the list, whose bytes are composed.
    @Test func rolesAreOnTheListThatIsThere() throws {
        var book = AccessBook()
        let token = book.add(name: "ada", role: .read, lists: ["e\u{301}x"], at: now).token
        _ = book.change(token.id, to: .write, lists: ["a\u{308}x"])
        #expect(Set(book.awaitedLists.map { Array($0.utf8) }) == Set(["\u{E9}x", "\u{E4}x"].map { Array($0.utf8) }))
    }

    @Test func tokensHaveRolesOnSeveralLists() throws {
        var book = AccessBook()
        let (token, secret) = book.add(name: "ada", role: .read, lists: ["a", "b"], at: now)
        let roles: [String: Role] = ["a": .read, "b": .read]
        #expect(
            grant(book, secret)?.access == Access(tokenID: token.id, name: "ada", everywhere: .none, lists: roles))
        #expect(book.change(token.id, to: .write, lists: ["b", "c"]) != nil)
        #expect(book.change(token.id, to: .append) != nil)
        let access = try #require(book.access(again: token.id, from: .thisMachine, at: now))
        #expect(
            access.role(onListNamed: "a") == .append && access.role(onListNamed: "b") == .write
                && access.role(onListNamed: "z") == .append)
        _ = book.change(token.id, to: .none, lists: ["b"])
        #expect(book.access(again: token.id, from: .thisMachine, at: now)?.role(onListNamed: "b") == .append)
        #expect(book.change("nobody", to: .read) == nil)
        #expect(book.revoke(token.id) && !book.revoke(token.id))
        #expect(grant(book, secret) == nil && book.access(again: token.id, from: .thisMachine, at: now) == nil)
    }

    @Test func tokensExpire() {
        var book = AccessBook()
        let (_, secret) = book.add(name: "ada", role: .read, expires: now + 10, at: now)
        #expect(grant(book, secret) != nil)
        #expect(book.grant(secret: secret, from: .thisMachine, at: now + 10) == nil)
        // Connections are checked when a token expires, and only then.
        _ = book.add(name: "ben", role: .read, at: now)
        let looks = [(0, 9), (9, 10), (10, 20)].map { book.hasExpired(after: now + $0, until: now + $1) }
        #expect(looks == [false, true, false])
    }

    /// Local guests may do everything and are not counted; remote guests may do nothing until it is allowed.
    @Test func guestsHaveRolesByTheirOrigin() {
        var book = AccessBook()
        #expect(grant(book) == Grant(access: .everything))
        #expect(grant(book, from: .address("10.0.0.1")) == nil)
        book.guests.remote = .read
        let guest = grant(book, from: .address("10.0.0.1"))
        #expect(guest?.access == Access(everywhere: .read) && guest?.user == "address 10.0.0.1")
        book.guests.local = .none
        #expect(grant(book) == nil)
    }

    /// On a Unix socket the system identifies a user: nobody can continue as another user, or under another's name.
    @Test func localUsersHaveTheirOwnNames() throws {
        let book = AccessBook()
        #expect(Caller(overSocketFrom: geteuid()) == .thisMachine && Caller(overSocketFrom: 0) == .thisMachine)
        let other = Caller(overSocketFrom: 65_534)
        #expect(other == .user(65_534, name: "nobody"))
        let mine = try #require(grant(book))
        let theirs = try #require(grant(book, from: other))
        #expect(theirs.access.name == "nobody" && theirs.access.everywhere == .admin)
        #expect(theirs.user == "user 65534" && mine.user != theirs.user)
        #expect(grant(book, from: Caller(overSocketFrom: 65_533))?.access.name == "user 65533")
        #expect(book.access(again: nil, from: other, at: now)?.name == "nobody")
    }

    @Test func theBookReadsBack() throws {
        var book = AccessBook()
        _ = book.add(name: "ada", role: .write, lists: ["a"], expires: now + 5, at: now)
        _ = book.add(name: "ben", role: .admin, at: now + 1)
        book.guests.remote = .append
        let folder = FileManager.default.temporaryDirectory.path + "/hand-\(UInt64.random(in: 0...UInt64.max))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = AccessFile(folder: folder)
        #expect(try file.read() == AccessBook())
        try file.change { $0 = book }
        #expect(try file.read() == book)
        #expect(try file.read().all.map(\.name) == ["ada", "ben"])
    }
}
