extension Delta {
    /// Returns the delta that undoes this one: applied to `list.applying(self)` it gives `list` again, with the same
    /// ids.
    ///
    /// O(n log n) in the components and the deleted items.
    ///
    /// - Parameter list: the list that this delta was made on.
    /// - Precondition: this delta fits `list`.
    public func inverted(on list: some EditableList) -> Delta {
        var builder = DeltaBuilder()
        var old = 0
        // The inverse picks where this delta drops; its slots are numbered in the order of the drops.
        var runs: [(slot: Int, count: Int, new: Int)] = []
        let footprint = hasMoves ? Footprint(self) : nil
        var undone: [Int: Change] = [:]
        for step in steps {
            switch step.kind {
            case .keep:
                builder.keep(step.count)
                old += step.count
            case .edit:
                builder.edit(list[old].content.inverse(of: changes[step.change]))
                old += 1
            case .delete:
                builder.insert((old..<old + step.count).map { list[$0] }, .after)
                old += step.count
            case .insert: builder.delete(step.count)
            case .pick:
                builder.drop(step.start, step.count, .after)
                old += step.count
            case .drop:
                runs.append((step.start, step.count, (runs.last?.new ?? 0) + (runs.last?.count ?? 0)))
                builder.pick(step.count)
                if step.change >= 0 {
                    footprint?.forEachOrigin(ofSlots: step.start..<step.start + 1) { origin in
                        undone[step.start] = list[origin.old].content.inverse(of: changes[step.change])
                    }
                }
            }
        }
        let inverse = builder.finish()
        guard !runs.isEmpty else { return inverse }
        runs.sort { $0.slot < $1.slot }
        return inverse.changingSlots(undone).mappingSlots(runs)
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
