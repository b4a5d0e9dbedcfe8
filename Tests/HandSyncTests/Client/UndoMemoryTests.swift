import HandCore
import HandSync
import HandWire
import Testing

/// What the journals of a person know of an undo, while several programs of the person run.
@Suite struct UndoMemoryTests {
    /// What another program notes at a revision that is not known here yet is of no use: neither at the beginning nor
    /// later.
    @Test func aBaseBeyondTheKnownHistoryIsIgnored() throws {
        func base(at revision: Int) throws -> UndoBase {
            var writer = WireWriter()
            writer.varint(1)
            writer.delta(.deleting(4..<5))
            writer.delta(.identity)
            writer.flag(false)
            writer.varint(0)
            writer.flag(false)
            writer.varint(revision)
            writer.varint(1)
            writer.number(3 as AuthorID)
            return try writer.bytes.withUnsafeBytes { try UndoBase($0) }
        }
        func memory(at revisions: Int...) throws -> UndoReconstruction.Memory {
            .init(bases: try revisions.map(base))
        }
        func advice(_ past: UndoReconstruction) -> UndoReconstruction.Advice {
            var past = past
            return past.next(for: .step(.undo))
        }
        func isMade(_ advice: UndoReconstruction.Advice) -> Bool {
            if case .make(let retraction, .undo, _, _) = advice { retraction.delta == .deleting(4..<5) } else { false }
        }
        #expect(isMade(advice(UndoReconstruction(try memory(at: 8), revision: 8))))
        #expect(isMade(advice(UndoReconstruction(try memory(at: 7, 8, 9), revision: 8))))
        #expect(advice(UndoReconstruction(try memory(at: 9), revision: 8)) == .read(8...8))
        var later = UndoReconstruction(.init(), revision: 8)
        later.remember(try memory(at: 9))
        #expect(advice(later) == .read(8...8))
        later.remember(try memory(at: 8))
        #expect(isMade(advice(later)))
        // Nobody knows whether a step that changed nothing came before the base or after it.
        for (revision, isKnown) in [(7, true), (8, false)] {
            var ambiguous = try memory(at: 8)
            ambiguous.own[3] = .init(empty: [revision: [.undo]])
            #expect(isMade(advice(UndoReconstruction(ambiguous, revision: 8))) == isKnown)
        }
        // The commits of a client that the base does not know were taken for somebody else's.
        for (author, isKnown) in [(3, true), (4, false)] as [(AuthorID, Bool)] {
            var memory = try memory(at: 8)
            memory.own[author] = .init()
            #expect(isMade(advice(UndoReconstruction(memory, revision: 8))) == isKnown)
        }
    }
}
