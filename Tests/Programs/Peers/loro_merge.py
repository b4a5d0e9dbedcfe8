"""Merges two branches of a list that were edited apart, with Loro's movable list.

    python3 loro_merge.py FILE

The file's first line is the number of items at the start. Then come a line `A` and that branch's edits, and a line `B`
and that branch's edits, one edit per line: `i POSITION TEXT` inserts, `d POSITION` deletes, `m FROM TO` moves an item so
that it is at TO afterwards.

Prints one line of JSON. Times are milliseconds of CPU: `edit` for making both branches' edits, `export` for writing what
the other branch lacks, in both directions, `merge` for importing it, in both directions and without the export. Needs loro.
"""

import json
import sys
import time

from loro import ExportMode, LoroDoc

KEY = "list"


def timed(work):
    """Returns the work's result and its milliseconds."""
    start = time.process_time()
    result = work()
    return result, (time.process_time() - start) * 1000


def read(path):
    """Returns the number of items at the start, and the edits of each branch as tuples."""
    branches = {"A": [], "B": []}
    edits = None
    with open(path, encoding="utf-8", newline="\n") as file:
        count = int(file.readline())
        for line in file:
            line = line.rstrip("\n")
            if line in branches:
                edits = branches[line]
                continue
            kind, _, rest = line.partition(" ")
            position, _, rest = rest.partition(" ")
            if kind == "i":
                edits.append((kind, int(position), rest))
            elif kind == "m":
                edits.append((kind, int(position), int(rest)))
            elif kind == "d":
                edits.append((kind, int(position), None))
            else:
                raise ValueError(f"no edit: {line}")
    return count, branches["A"], branches["B"]


def make_base(count):
    base = LoroDoc()
    base.peer_id = 1
    items = base.get_movable_list(KEY)
    for number in range(count):
        items.push(f"item number {number}")
    base.commit()
    return base


def branch(base, peer):
    document = base.fork()
    document.peer_id = peer
    # A fork unpacks its items when they are first read; that belongs to neither measurement.
    document.get_movable_list(KEY).get_value()
    return document


def make(document, edits):
    items = document.get_movable_list(KEY)
    for kind, position, other in edits:
        if kind == "i":
            items.insert(position, other)
        elif kind == "m":
            items.mov(position, other)
        else:
            items.delete(position, 1)
        # One transaction per edit, as when somebody makes them one by one.
        document.commit()


def main():
    if len(sys.argv) != 2:
        print("usage: python3 loro_merge.py FILE", file=sys.stderr)
        return 2
    count, edits_of_a, edits_of_b = read(sys.argv[1])
    base = make_base(count)
    forked_at = base.oplog_vv
    a, b = branch(base, 2), branch(base, 3)

    def edit():
        make(a, edits_of_a)
        make(b, edits_of_b)

    def export():
        return a.export(ExportMode.Updates(forked_at)), b.export(ExportMode.Updates(forked_at))

    _, edit_time = timed(edit)
    (of_a, of_b), export_time = timed(export)
    _, merge_time = timed(lambda: (a.import_(of_b), b.import_(of_a)))

    merged, other = a.get_movable_list(KEY).get_value(), b.get_movable_list(KEY).get_value()
    figures = {
        "edit": round(edit_time, 3),
        "export": round(export_time, 3),
        "merge": round(merge_time, 3),
        "converged": merged == other,
        "items": len(merged),
    }
    print(json.dumps(figures, separators=(",", ":")))
    return 0 if merged == other else 1


if __name__ == "__main__":
    sys.exit(main())
