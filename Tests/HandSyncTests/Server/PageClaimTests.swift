import HandCore
import HandSimulation
import HandSync
import HandWire
import Testing

/// The claims of `Protocol.md` about a server's answers, one by one.
@Suite struct PageClaimTests {
    private func served(_ world: TestWorld, commits: Int = 0) -> TestStream {
        let stream = world.connect(1)
        world.settle()
        stream.say(.create(request: 1, name: "list", rules: Rules()))
        world.settle()
        stream.subscribe("list", request: 2)
        world.settle()
        for sequence in 1..<UInt64(commits + 1) {
            stream.submit(SequenceNumber(sequence), base: Int(sequence) - 1, "\(sequence)")
            world.settle()
        }
        return stream
    }

    private func history(_ stream: TestStream) -> [Int]? {
        for case .history(_, let commits, _) in stream.heard.reversed() { return commits.map(\.revision) }
        return nil
    }

    // MARK: Where history begins

    /// The answer starts with the oldest commit that is kept; the list is available at the revision where history
    /// begins, but not before.
    @Test func anAnswerRevealsWhereHistoryBegins() {
        let world = TestWorld(limits: Awkwardness.limits(Limits()))
        world.retention = Retention(commits: 5)
        let stream = served(world, commits: 30)
        stream.say(.history(request: 3, name: "list", from: 1, limit: 2))
        world.settle()
        let first = history(stream)?.first ?? 0
        #expect(first > 1 && first <= 26, "\(first)")
        for revision in [first - 2, 31] {
            stream.say(.fetch(request: 4, name: "list", revision: revision))
            world.settle()
        }
        #expect(stream.errors == [.noSuchRevision, .noSuchRevision])
        stream.say(.fetch(request: 5, name: "list", revision: first - 1))
        world.settle()
        #expect(
            stream.heard.contains {
                if case .state(5, first - 1, first - 1, _, _) = $0 { true } else { false }
            })
    }

    /// If all commits are forgotten, the answer is empty, and history begins at the newest revision.
    @Test func anEmptyAnswerMeansThatHistoryBeginsAtTheEnd() {
        let world = TestWorld(limits: Awkwardness.limits(Limits()))
        world.retention = Retention(commits: 0)
        let stream = served(world, commits: 8)
        stream.say(.history(request: 3, name: "list", from: 1, limit: 2))
        stream.say(.fetch(request: 4, name: "list", revision: 8))
        world.settle()
        #expect(history(stream) == [])
        #expect(stream.errors.isEmpty)
    }

    // MARK: The hello

    private func answer(to bytes: [UInt8]) -> [ErrorCode] {
        let world = TestWorld()
        let stream = TestStream(world)
        stream.send(bytes)
        world.settle()
        return stream.errors
    }

    private func hello(person: Int = 1, program: Int = 1, token: Int? = nil) -> [UInt8] {
        func text(_ count: Int) -> String { String(repeating: "x", count: count) }
        return UpMessage.hello(
            .init(
                client: ClientID(high: 1, low: 1), person: text(person), program: text(program),
                token: token.map(text))
        ).frame
    }

    @Test func theFirstFrameMustBeAHello() {
        #expect(answer(to: hello()) == [])
        #expect(answer(to: Frame.around([77, 1, 2])) == [.notHand])
        #expect(answer(to: Frame.around([1] + "HAN0".utf8)) == [.notHand])
        #expect(answer(to: UpMessage.ping(1).frame) == [.outOfOrder])
        #expect(answer(to: hello(person: 64, program: 64, token: 128)) == [])
        for tooLong in [hello(person: 65), hello(program: 65), hello(token: 129)] {
            #expect(answer(to: tooLong) == [.malformedMessage])
        }
        #expect(answer(to: hello(person: 2_000)) == [.frameTooLarge])
    }

    // MARK: Submissions

    /// `how` goes up to 1 + base.
    @Test func howIsAtMostOneMoreThanTheBase() {
        for (how, errors) in [(UInt8(3), [ErrorCode]()), (4, [.malformedMessage])] {
            let world = TestWorld()
            let stream = served(world, commits: 2)
            stream.send(Frame.around([4, 1, 2, 3, how, 0]))
            world.settle()
            #expect(stream.errors == errors)
        }
    }

    /// A delta without components, and one of which nothing remains, become commits.
    @Test func anEmptyDeltaIsACommitToo() {
        let world = TestWorld()
        let stream = served(world, commits: 2)
        stream.say(.submit(Submission(list: 1, base: 2, sequence: 3, delta: .identity)))
        let deletion = Delta.deleting(0..<1)
        stream.say(.submit(Submission(list: 1, base: 2, sequence: 4, delta: deletion)))
        stream.say(.submit(Submission(list: 1, base: 2, sequence: 5, delta: deletion)))
        world.settle()
        var deltas: [Delta] = []
        for case .commit(1, let commit) in stream.heard where commit.revision > 2 { deltas.append(commit.delta) }
        #expect(deltas == [.identity, deletion, .identity])
        #expect(stream.errors.isEmpty)
    }

    /// The newest revision is the durable one, except for exact submissions.
    @Test func onlyExactSubmissionsSeeNumberedCommits() {
        let world = TestWorld()
        let stream = served(world, commits: 2)
        stream.submit(3, base: 2, "numbered, not durable")
        stream.say(
            .submit(
                Submission(list: 1, base: 2, sequence: 4, isExact: true, delta: Delta.deleting(0..<1)))
        )
        #expect(
            stream.heard.contains {
                if case .rejected(1, 4, .revisionMoved(now: 3)) = $0 { true } else { false }
            })
        stream.submit(4, base: 3, "on what nobody has")
        #expect(stream.errors == [.baseInFuture])
    }

    /// Every id may be inserted, and inserted again after the item is deleted.
    @Test func anyNewIDMayBeInserted() {
        let world = TestWorld()
        let stream = served(world)
        let item = Item(id: ItemID(rawValue: 0), content: .note(""))
        let insertion = Delta.inserting([item], at: 0, .after)
        let deltas = [insertion, insertion, Delta.deleting(0..<1), insertion]
        var sequence: SequenceNumber = 1
        for (base, delta) in zip([0, 1, 1, 2], deltas) {
            stream.say(.submit(Submission(list: 1, base: base, sequence: sequence, delta: delta)))
            world.settle()
            if base != 1 || delta != insertion { sequence = sequence.next }
        }
        let rejections = stream.heard.filter { if case .rejected = $0 { true } else { false } }
        #expect(rejections == [.rejected(list: 1, sequence: 2, .duplicateItem(item.id))])
        #expect(stream.heard.filter { if case .commit = $0 { true } else { false } }.count == 3)
    }

    // MARK: Presence

    /// A client that follows a list and wants people's presence is present; others are not shown. A client may change
    /// its mind.
    @Test func presenceShowsFollowersWhoWantIt() {
        let world = TestWorld()
        let stream = served(world)
        let other = world.connect(2)
        world.settle()
        let silent = world.connect(3)
        world.settle()
        other.subscribe("list", request: 1)
        silent.subscribe("list", request: 1, wantsPeople: false)
        world.settle()
        // The id of a nonexistent item may be sent.
        other.say(.presence(list: 1, Focus(ItemID(rawValue: 77))))
        world.now += 100
        world.timeout()
        world.settle()
        #expect(stream.present() == other.present() && stream.present().count == 2)
        #expect(silent.present().isEmpty)
        other.say(.unsubscribe(list: 1))
        world.now += 100
        world.timeout()
        world.settle()
        #expect(stream.present().count == 1)
        for (request, wantsPeople) in [(UInt64(2), true), (3, false), (4, true)] {
            silent.say(.presence(list: 1, .away))
            silent.subscribe("list", request: RequestNumber(request), wantsPeople: wantsPeople)
            world.now += 100
            world.timeout()
            world.settle()
            #expect(stream.present().count == (wantsPeople ? 2 : 1))
            #expect(world.machine.brokenInvariant() == nil)
        }
        silent.say(.presence(list: 1, .away))
        world.now += 100
        world.timeout()
        world.settle()
        #expect(
            stream.heard.contains(
                .presence(list: 1, [.init(author: 3, place: .here(person: "p3", .away))])))
    }
}
