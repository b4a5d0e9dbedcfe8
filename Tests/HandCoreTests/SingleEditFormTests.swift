import HandCore
import HandTestSupport
import Testing

/// A delta of one item is kept as a few numbers. That must show nowhere.
@Suite struct SingleEditFormTests {
    private static let item = Item(id: ItemID(rawValue: 9), content: .note("a text that is not short"))
    private static let list = Hand((0..<4).map { Item(id: ItemID(rawValue: $0), content: .note("\($0)")) })

    private static let cases: [(delta: Delta, components: [Delta.Component])] = {
        func keep(_ count: Int) -> [Delta.Component] { count > 0 ? [.keep(count)] : [] }
        var cases: [(Delta, [Delta.Component])] = [(.identity, [])]
        for side in Side.allCases {
            for gap in 0...4 {
                cases.append((.inserting([item], at: gap, side), keep(gap) + [.insert([item], side)]))
                for index in 0..<4 {
                    let drop = Delta.Component.drop(0..<1, side, nil)
                    let components =
                        index < gap
                        ? keep(index) + [.pick(1)] + keep(gap - index - 1) + [drop]
                        : keep(gap) + [drop] + keep(index - gap) + [.pick(1)]
                    cases.append((.moving(index..<index + 1, to: gap, side), components))
                }
            }
        }
        for index in 0..<4 { cases.append((.deleting(index..<index + 1), keep(index) + [.delete(1)])) }
        return cases
    }()

    @Test func itHasTheComponentsOfTheEdit() throws {
        for (delta, components) in Self.cases {
            #expect(delta.single != nil)
            #expect(delta.components == components)
            #expect(delta.componentCount == components.count)
            #expect(try Delta(components) == delta)
        }
    }

    @Test func reachAndGrowthAreThoseOfTheComponents() {
        for (delta, components) in Self.cases {
            var (reach, growth) = (0, 0)
            for component in components {
                switch component {
                case .keep(let count), .pick(let count): reach += count
                case .delete(let count): (reach, growth) = (reach + count, growth - count)
                case .edit: reach += 1
                case .insert(let items, _): growth += items.count
                case .drop: break
                }
            }
            #expect(delta.reach == reach && delta.growth == growth, "\(components)")
        }
    }

    @Test func itsInverseUndoesItAndHasOneItemToo() throws {
        for (delta, components) in Self.cases {
            let inverse = delta.inverted(on: Self.list)
            #expect(inverse.single != nil, "\(components)")
            #expect(try Self.list.applying(delta).applying(inverse) == Self.list, "\(components)")
            #expect(inverse.inverted(on: try Self.list.applying(delta)).growth == delta.growth)
        }
    }

    /// One way makes the edit in place, the other walks the components.
    @Test func bothWaysOfApplyingItAgree() throws {
        for (delta, components) in Self.cases {
            let walked = try Self.list.applying(delta, rewriting: true)
            #expect(try Self.list.applying(delta) == walked, "\(components)")
            #expect(try Self.list.applying(delta, rewriting: false) == walked, "\(components)")
        }
    }

    /// More than one item, a change, or slots that do not match are no single edit.
    @Test func whatIsMoreIsACompound() {
        #expect(Delta.inserting([Self.item, Self.item]).single == nil)
        #expect(Delta.deleting(0..<2).single == nil)
        #expect(Delta.moving(0..<2, to: 3, .after).single == nil)
        #expect(Delta.editing(at: 0, Change(done: true)).single == nil)
        #expect(Delta.deleting(0..<1).composed(with: .deleting(2..<3)).single == nil)
        for components: [Delta.Component] in [
            [.pick(1), .drop(1..<2, .after, nil)], [.drop(1..<2, .after, nil), .pick(1)],
        ] {
            #expect(throws: Delta.Malformed.slotsDoNotMatch(picked: 1)) { try Delta(components) }
        }
    }

    /// Beyond the longest list an edit is a compound, and still the same edit.
    @Test func farPositionsAreKept() throws {
        for position in [1 << 30 - 2, 1 << 30 - 1, 1 << 30, Int(Int32.max)] {
            let insertion = Delta.inserting([Self.item], at: position, .before)
            #expect(insertion.components == [.keep(position), .insert([Self.item], .before)])
            #expect(insertion.reach == position)
            let deletion = Delta.deleting(position..<position + 1)
            #expect(deletion.components == [.keep(position), .delete(1)])
            #expect(deletion.reach == position + 1)
            let made = Delta(inserting: PackedItem(Self.item), at: position, .before)
            #expect(made == nil || made == insertion)
            let removed = Delta(deletingAt: position)
            #expect(removed == nil || removed == deletion)
        }
    }
}
