extension Delta {
    /// Returns the delta that undoes this one: applied to `list.applying(self)` it gives `list` again, with the same
    /// ids.
    ///
    /// O(n log n) in the components and the deleted items.
    ///
    /// - Parameter list: the list that this delta was made on.
    /// - Precondition: this delta fits `list`.
    public func inverted(on list: some EditableList) -> Delta { inverted { PackedItem(list[$0]) } }

    /// The inverse on a `Hand`, which stores packed items: no text is copied.
    package func inverted(on list: Hand) -> Delta {
        let tree = list.tree
        return inverted { tree[$0] }
    }

    /// - Parameter item: returns the item at a position of the list that this delta was made on.
    func inverted(_ item: (Int) -> PackedItem) -> Delta {
        if let edit = single, let inverse = Self.inverse(of: edit, item) { return inverse }
        var builder = DeltaBuilder()
        // The inverse picks where this delta drops; its slots are numbered in the order of the drops.
        var runs: [(slot: Int, count: Int, new: Int)] = []
        let footprint = hasMoves ? Footprint(self) : nil
        var undone: [Int: Change] = [:]
        for span in spans {
            let step = span.step
            switch step.kind {
            case .keep: builder.keep(step.count)
            case .edit: builder.edit(item(span.old).item.inverse(of: changes[step.change]))
            case .delete: builder.insert(span.oldItems.map(item), .after)
            case .insert: builder.delete(step.count)
            case .pick: builder.drop(step.start, step.count, .after)
            case .drop:
                runs.append((step.start, step.count, (runs.last?.new ?? 0) + (runs.last?.count ?? 0)))
                builder.pick(step.count)
                if step.change >= 0 {
                    footprint?.forEachOrigin(ofSlots: step.start..<step.start + 1) { origin in
                        undone[step.start] = item(origin.old).item.inverse(of: changes[step.change])
                    }
                }
            }
        }
        let inverse = builder.finish()
        guard !runs.isEmpty else { return inverse }
        runs.sort { $0.slot < $1.slot }
        return inverse.changingSlots(undone).mappingSlots(runs)
    }

    /// The inverse of a single edit; nil if it has to be a compound.
    private static func inverse(of edit: SingleEdit, _ item: (Int) -> PackedItem) -> Delta? {
        switch edit.kind {
        case .insert: Delta(deletingAt: Int(edit.gap))
        case .delete: Delta(inserting: item(Int(edit.index)), at: Int(edit.index), .after)
        case .move: Delta(single: edit.movingBack)
        case .nothing: .identity
        case .set, .reword: nil
        }
    }

    /// Returns this delta with the given changes added to its drops, by slot.
    private func changingSlots(_ changed: [Int: Change]) -> Delta {
        guard !changed.isEmpty else { return self }
        var builder = DeltaBuilder()
        for component in components {
            guard case .drop(let slots, let side, nil) = component else {
                builder.append(component)
                continue
            }
            for slot in slots { builder.drop(slot, 1, side, changed[slot]) }
        }
        return builder.finish()
    }
}
