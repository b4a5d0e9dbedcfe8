"""The algebra of Protocol.md, section 6, on the JSON forms of Tests/Data/Vectors/README.md.

It is written to be read: it takes one step for each item, although one for each component would do. `check.py` runs it
on the test vectors.
"""
import base64, unicodedata

# Texts: a change is a list of splices.

def cut(change):
    """The splices of a change of a text, their texts as bytes; `at` counts bytes, too."""
    return [(s["at"], s["removed"].encode(), s["inserted"].encode()) for s in change]

def joined(splices):
    """Splices from left to right in normal form: those that touch are one, and none changes nothing. A splice that
    changes nothing is left out first, so nobody checks whether the text has what it removes."""
    out = []
    for at, gone, come in splices:
        if gone == come: continue
        if out and out[-1][0] + len(out[-1][1]) == at: out[-1] = (out[-1][0], out[-1][1] + gone, out[-1][2] + come)
        else: out.append((at, gone, come))
    return [{"at": at, "removed": gone.decode(), "inserted": come.decode()} for at, gone, come in out if gone != come]

def apply_text(text, change):
    old, new, end = text.encode(), b"", 0
    for at, gone, come in cut(change):
        assert end <= at <= len(old) and old[at:at + len(gone)] == gone, "made on another text"
        new += old[end:at] + come; end = at + len(gone)
    return (new + old[end:]).decode()                       # fails if it cuts a character in two

def grown(splices): return sum(len(come) - len(gone) for _, gone, come in splices)

def invert_text(change):
    out, shift = [], 0
    for at, gone, come in cut(change):
        out.append((at + shift, come, gone)); shift += len(come) - len(gone)
    return joined(out)

def meetings(earlier, later):
    """The regions of two changes of a text, from left to right: [start, end, splices of the earlier, of the later]."""
    both = [(at, gone != b"", side, gone, come)             # at one place: insertions first, then the earlier first
            for side in (0, 1) for at, gone, come in cut((earlier, later)[side])]
    out = []
    for at, _, side, gone, come in sorted(both):
        if not out or at >= out[-1][1]: out.append([at, at, [], []])    # else it overlaps the last region
        out[-1][1] = max(out[-1][1], at + len(gone))
        out[-1][2 + side].append((at, gone, come))
    return out

def made(meeting, splices):
    """What some of the splices make of the text there. Each old byte of it is removed by one of them."""
    start, end, earlier, later = meeting
    old, new, done = bytearray(end - start), b"", 0
    for at, gone, _ in earlier + later: old[at - start:at - start + len(gone)] = gone
    for at, gone, come in splices:
        new += bytes(old[done:at - start]) + come; done = at - start + len(gone)
    return new + bytes(old[done:])

def transform_text(x, y, later):
    """What remains of x after y, which was made on the same text; later: x is the later of the two."""
    out, shift = [], 0
    for meeting in meetings(y, x) if later else meetings(x, y):
        mine, theirs = (meeting[3], meeting[2]) if later else (meeting[2], meeting[3])
        if not theirs: out += [(at + shift, gone, come) for at, gone, come in mine]
        elif mine and later: out.append((meeting[0] + shift, made(meeting, theirs), made(meeting, mine)))
        shift += grown(theirs)
    return joined(out)

def compose_text(a, b):
    """a and then b as one. The inverse of a, and b, are both changes of the text between them."""
    out, shift = [], 0
    for meeting in meetings(invert_text(a), b):
        out.append((meeting[0] + shift, made(meeting, meeting[2]), made(meeting, meeting[3])))
        shift += grown(meeting[2])
    return joined(out)

def lost_words(earlier, later):
    """The parts of the earlier change that are lost; `at` is the place of `present` after both."""
    out, shift = [], 0
    for meeting in meetings(earlier, later):
        lost, present = made(meeting, meeting[2]), made(meeting, meeting[3])
        if meeting[2] and meeting[3] and lost != present:
            texts = {"original": made(meeting, []), "words": lost, "present": present}
            out.append({"at": meeting[0] + shift, **{name: text.decode() for name, text in texts.items()}})
        shift += grown(meeting[3] or meeting[2])
    return out

# Contents and lists.

KEEP, DELETE, PICK = "keep", "delete", "pick"
FIELDS = "text", "done", "url", "card", "bytes", "level"
TEXTS = "text", "url"

class View:
    """A delta in parts, over n old items: fates, changes, and the content of each of the n + 1 gaps."""
    def __init__(self, delta, n):
        self.fate, self.change = [KEEP] * n, [{} for _ in range(n)]
        self.after, self.before = [[] for _ in range(n + 1)], [[] for _ in range(n + 1)]
        self.place = {}                                     # old index of a picked item → the gap that it moves to
        at, drops, self.origin = 0, [], []                  # origin: slot → old index
        for part in delta:
            if "edit" in part: self.change[at] = part["edit"]; at += 1
            for kind in (KEEP, DELETE, PICK):
                for _ in range(part.get(kind, 0)):
                    self.fate[at] = kind
                    if kind == PICK: self.origin.append(at)
                    at += 1
            if "insert" in part: self.gap(at, part["side"]).extend(("new", item) for item in part["insert"])
            if "drop" in part:
                for slot in range(*part["drop"]):
                    self.gap(at, part["side"]).append(("slot", slot))
                    drops.append((slot, part.get("change", {})))
        for side in self.after, self.before:                # a drop names the old item from here on
            side[:] = [[("old", self.origin[c[1]]) if c[0] == "slot" else c for c in gap] for gap in side]
        for slot, change in drops: self.change[self.origin[slot]] = change
        for at in range(n + 1): self.place.update({c[1]: at for c in self.after[at] + self.before[at] if c[0] == "old"})

    def gap(self, at, side): return self.after[at] if side == "after" else self.before[at]

def normalised(delta):
    """A delta of any form, in normal form."""
    steps, picked = [], 0
    for part in delta:
        if "edit" in part: steps.append((KEEP, tidy(part["edit"])))
        steps += [(KEEP, {})] * part.get(KEEP, 0) + [(DELETE,)] * part.get(DELETE, 0)
        steps += [(PICK, picked + s) for s in range(part.get(PICK, 0))]; picked += part.get(PICK, 0)
        steps += [("insert", item, part["side"]) for item in part.get("insert", [])]
        steps += [("drop", s, part["side"], tidy(part.get("change", {}))) for s in range(*part.get("drop", (0, 0)))]
    return normal(steps)

def reach(delta):
    return sum(part.get(KEEP, 0) + part.get(DELETE, 0) + part.get(PICK, 0) + ("edit" in part) for part in delta)

def tidy(change):
    """A change in normal form: its fields in order, its splices in normal form, none of them empty."""
    all = {f: joined(cut(change[f])) if f in TEXTS else change[f] for f in FIELDS if f in change}
    return {f: v for f, v in all.items() if v != [] or f not in TEXTS}

def changed(item, change):
    assert all(field in item for field in change)
    return {**item, **{f: apply_text(item[f], v) if f in TEXTS else v for f, v in change.items()}}

def transform_change(x, y, later):
    """Texts merge; where both set a field, the later wins."""
    return tidy({f: transform_text(v, y[f], later) if f in TEXTS and f in y else v
                 for f, v in x.items() if later or f in TEXTS or f not in y})

def compose_change(a, b):
    return tidy({f: compose_text(a[f], b[f]) if f in TEXTS and f in a and f in b else b.get(f, a.get(f))
                 for f in FIELDS if f in a or f in b})

def apply(items, delta):
    delta = normalised(delta)
    assert reach(delta) <= len(items)
    view, result = View(delta, len(items)), []
    for i in range(len(items) + 1):
        for kind, what in view.after[i] + view.before[i]:
            result.append(what if kind == "new" else changed(items[what], view.change[what]))
        if i < len(items) and view.fate[i] == KEEP: result.append(changed(items[i], view.change[i]))
    return result

def transform(x, y, later):
    """What remains of x after y, which was made on the same list; later: x is the later of the two."""
    x, y = normalised(x), normalised(y)
    n = max(reach(x), reach(y))
    X, Y, out = View(x, n), View(y, n), []

    def rest(i): return transform_change(X.change[i], Y.change[i], later)
    def place(gap, side):                                   # content of x is still to come, lost moves excepted
        for kind, what in gap:
            if kind == "new": out.append(("insert", what, side))
            elif Y.fate[what] == KEEP or (Y.fate[what] == PICK and later): out.append(("drop", what, side, rest(what)))
    def step_over(gap):                                     # content of y is in the list already
        for kind, what in gap:
            if kind == "new": out.append((KEEP, {}))
            else: act(what, stays=not later)
    def act(i, stays=False):                                # what x does to old item i, wherever it is now
        if X.fate[i] == DELETE: out.append((DELETE,))
        elif X.fate[i] == PICK and not stays: out.append((PICK, i))
        else: out.append((KEEP, rest(i)))

    for i in range(n + 1):
        if later: place(X.after[i], "after"); step_over(Y.after[i] + Y.before[i]); place(X.before[i], "before")
        else: step_over(Y.after[i]); place(X.after[i], "after"); place(X.before[i], "before"); step_over(Y.before[i])
        if i < n and Y.fate[i] == KEEP: act(i)
    return normal(out)

def normal(steps):
    """Steps of one item each, as the components of a delta in normal form."""
    picked = [step[1] for step in steps if step[0] == PICK]
    slot = {old: index for index, old in enumerate(picked)} # numbered in the order of picking
    for i in range(len(steps) - 1, -1, -1):                 # content left of `after` becomes `after`
        content = steps[i][0] in ("insert", "drop")
        next_is_after = i + 1 < len(steps) and steps[i + 1][0] in ("insert", "drop") and steps[i + 1][2] == "after"
        if content and next_is_after: steps[i] = steps[i][:2] + ("after",) + steps[i][3:]
    out = []
    for kind, *rest in steps:
        last = out[-1] if out else {}
        if kind == KEEP and rest[0]: out.append({"edit": rest[0]})
        elif kind in (KEEP, DELETE, PICK):
            if kind in last: last[kind] += 1
            else: out.append({kind: 1})
        elif kind == "insert":
            if "insert" in last and last["side"] == rest[1]: last["insert"].append(rest[0])
            else: out.append({"insert": [rest[0]], "side": rest[1]})
        else:
            s, side, change = slot[rest[0]], rest[1], rest[2]
            if "drop" in last and last["side"] == side and last["drop"][1] == s and not change and "change" not in last:
                last["drop"][1] = s + 1
            else: out.append({"drop": [s, s + 1], "side": side, **({"change": change} if change else {})})
    while out and KEEP in out[-1]: out.pop()
    return out

def superseded(items, first, second):
    """The parts of two deltas on one list, the first committed first, that have no effect."""
    X, Y, out = View(normalised(first), len(items)), View(normalised(second), len(items)), []
    for i, item in enumerate(items):
        a, was, b, now = X.fate[i], X.change[i], Y.fate[i], Y.change[i]
        move, loser = a == b == PICK and X.place[i] != Y.place[i], "first"
        fields = [f for f in was if f not in TEXTS and f in now and was[f] != now[f]]   # the same value is no loss
        if b == DELETE: move, fields = a == PICK, list(was)
        elif a == DELETE: move, fields, loser = b == PICK, list(now), "second"
        lost = ([{"lost": "move"}] if move else []) + ([{"lost": "edit", "fields": fields}] if fields else [])
        if DELETE not in (a, b):
            for f in (f for f in TEXTS if f in was and f in now):
                lost += [{"lost": "words", "field": f, **words} for words in lost_words(was[f], now[f])]
        out += [{"item": item["id"], **what, "loser": loser} for what in lost]
    return out

def compose(a, b):
    """a and then b as one delta."""
    a, b = normalised(a), normalised(b)
    n = reach(a) + reach(b) + 1                             # more items than either walks over
    A, pieces = View(a, n), []
    for i in range(n + 1):                                  # the list after a, and where items are gone from it
        for side in "after", "before":
            pieces += [{"kind": k, "what": w, "side": side} for k, w in A.gap(i, side)]
        if i < n: pieces.append({"kind": "kept" if A.fate[i] == KEEP else "gone", "what": i})
    change = [dict(c) for c in A.change]
    def index(offset):                                      # of the piece that is item number `offset`
        return [i for i, p in enumerate(pieces) if p["kind"] != "gone"][offset]
    def put(piece, offset):                                 # right next to the neighbour that it holds on to
        i = index(offset) if piece["side"] == "before" else index(offset - 1) + 1 if offset > 0 else 0
        near = pieces[i if piece["side"] == "before" else i - 1] if offset > 0 or piece["side"] == "before" else {}
        pieces.insert(i, {**piece, "side": near.get("side", piece["side"])})
    offset = 0
    for part in b:                                          # first: gaps get their content
        for item in part.get("insert", []):
            put({"kind": "new", "what": item, "side": part["side"]}, offset); offset += 1
        for s in range(*part.get("drop", (0, 0))):
            put({"kind": "slot", "what": s, "side": part["side"], "change": part.get("change", {})}, offset)
            offset += 1
        offset += reach([part])
    offset, picked = 0, []
    for part in b:                                          # second: old items are changed, deleted and picked
        offset += part.get(KEEP, 0) + len(part.get("insert", [])) + len(range(*part.get("drop", (0, 0))))
        if "edit" in part: edit(pieces[index(offset)], part["edit"], change); offset += 1
        for kind in (DELETE, PICK):
            for _ in range(part.get(kind, 0)):
                i = index(offset)
                if kind == PICK: picked.append(dict(pieces[i]))
                if pieces[i]["kind"] == "kept": pieces[i]["kind"] = "gone"
                else: pieces.pop(i)
    for p in pieces:                                        # third: what was picked takes the place of its slot
        if p["kind"] == "slot":
            moved = picked[p["what"]]
            edit(moved, p["change"], change)
            p.update(kind="new" if moved["kind"] == "new" else "old", what=moved["what"])
    moved = {p["what"] for p in pieces if p["kind"] == "old"}
    return normal([
        (KEEP, change[p["what"]]) if p["kind"] == "kept" else
        (PICK, p["what"]) if p["kind"] == "gone" and p["what"] in moved else
        (DELETE,) if p["kind"] == "gone" else
        ("insert", p["what"], p["side"]) if p["kind"] == "new" else ("drop", p["what"], p["side"], change[p["what"]])
        for p in pieces])

def edit(piece, new, change):
    if piece["kind"] == "new": piece["what"] = changed(piece["what"], new)
    else: change[piece["what"]] = compose_change(change[piece["what"]], new)

def map_index(delta, index):
    """The new index of an old item; None if it is gone."""
    items = [{"old": i} for i in range(max(reach(normalised(delta)), index + 1))]
    moves = [{KEEP: 1} if "edit" in part else {k: v for k, v in part.items() if k != "change"} for part in delta]
    return next((i for i, item in enumerate(apply(items, moves)) if item.get("old") == index), None)

def map_gap(delta, gap, side):
    """The new gap of a cursor before that old item, which holds on to its neighbour on that side."""
    view, new = View(normalised(delta), max(reach(delta), gap + 1)), 0
    for i in range(gap):
        new += len(view.after[i] + view.before[i]) + (view.fate[i] == KEEP)
    return new if side == "after" else new + len(view.after[gap] + view.before[gap])

def inverse(item, change):
    return {f: invert_text(v) if f in TEXTS else item[f] for f, v in change.items()}

def invert(items, delta):
    """The delta that undoes one that was made on these items: it walks over the new list."""
    steps, old, picked, changes = [], 0, [], {}
    delta = normalised(delta)
    for part in delta:                                      # the old index of each slot, and the changes of drops
        picked += range(old, old + part.get(PICK, 0)); old += reach([part])
        if "change" in part: changes[part["drop"][0]] = part["change"]
    old, slot = 0, 0
    for part in delta:
        gone = items[old:old + reach([part])]
        if "edit" in part: steps.append((KEEP, inverse(gone[0], part["edit"])))
        elif KEEP in part: steps += [(KEEP, {})] * part[KEEP]
        elif DELETE in part: steps += [("insert", item, "after") for item in gone]
        elif PICK in part:
            for item in gone: steps.append(("drop", slot, "after", inverse(item, changes.get(slot, {})))); slot += 1
        elif "insert" in part: steps += [(DELETE,)] * len(part["insert"])
        else: steps += [(PICK, s) for s in range(*part["drop"])]
        old += len(gone)
    return normal(steps)

def difference(old, new):
    """The change from one item to another of the same kind."""
    return tidy({f: change_of_text(old[f], new[f]) if f in TEXTS else new[f]
                 for f in FIELDS if f in old and old[f] != new[f]})

def diff(old, new):
    """A delta from one list to another: what is in both stays or moves, and as few items as possible move."""
    place = {item["id"]: i for i, item in enumerate(old)}
    used, origins = set(), []                               # the old index of each new item
    for item in new:
        i = place.get(item["id"])
        if i is None or i in used or old[i]["kind"] != item["kind"]: i = None
        else: used.add(i)
        origins.append(i)
    stays = longest_rising([i for i in origins if i is not None])
    steps, passed = [], 0
    def pass_to(end):
        nonlocal passed
        steps.extend((PICK, i) if i in used else (DELETE,) for i in range(passed, end))
        passed = end
    for item, i in zip(new, origins):
        if i is None: steps.append(("insert", item, "after"))
        elif i in stays: pass_to(i); steps.append((KEEP, difference(old[i], item))); passed += 1
        else: steps.append(("drop", i, "after", difference(old[i], item)))
    pass_to(len(old))
    return normal(steps)

def longest_rising(numbers):
    """The numbers of a longest rising subsequence."""
    ends, best = [], [None] * len(numbers)                  # ends: the place of the smallest end of each length
    for i, number in enumerate(numbers):
        length = sum(numbers[e] < number for e in ends)
        best[i] = ends[length - 1] if length else None
        ends[length:length + 1] = [i]
    found, i = set(), ends[-1] if ends else None
    while i is not None: found.add(numbers[i]); i = best[i]
    return found

# Words: how a text is cut, and what an undo keeps.

def characters(text):
    """The characters of a text, each with the marks and joined code points that belong to it."""
    out = []
    for c in text:
        belongs = unicodedata.category(c)[0] == "M" or c == "\u200d" or "\U0001f3fb" <= c <= "\U0001f3ff"
        if out and (belongs or out[-1][-1] == "\u200d"): out[-1] += c
        else: out.append(c)
    return out

def is_ideograph(c):
    return any(low <= ord(c[0]) <= high for low, high in (
        (0x3006, 0x3007), (0x3040, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF)))

def is_letter(c):
    """Whether a character is a letter or a digit of a script that separates words."""
    return not is_ideograph(c) and (c[0].isalpha() or unicodedata.numeric(c[0], None) is not None)

def has_word(text): return any(is_letter(c) or is_ideograph(c) for c in characters(text))

def words(text):
    """A run of letters and digits is a word, with single marks between two runs; so is each other character."""
    out, last, mark = [], False, False                      # last: a word of letters; mark: one mark behind such a word
    for c in characters(text):
        letter = is_letter(c)
        if letter and last: out[-1] += c
        elif letter and mark: out[-2:] = [out[-2] + out[-1] + c]
        else: out.append(c)
        mark = last and not letter and not c[0].isspace() and not is_ideograph(c)
        last = letter
    return out

def change_of_text(old, new):
    """The splices from one text to another, cut by words. The kept words are a longest common subsequence."""
    a, b = words(old), words(new)
    length = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in reversed(range(len(a))):
        for j in reversed(range(len(b))):
            length[i][j] = length[i + 1][j + 1] + 1 if a[i] == b[j] else max(length[i + 1][j], length[i][j + 1])
    matches, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]: matches.append((i, j)); i += 1; j += 1
        elif length[i + 1][j] >= length[i][j + 1]: i += 1
        else: j += 1
    out, i, j, kept = [], 0, 0, 0
    for old_end, new_end in matches + [(len(a), len(b))]:   # the words between two that are kept
        gone, come = (i, old_end), (j, new_end)
        i, j = old_end + 1, new_end + 1
        if gone[0] == gone[1] or come[0] == come[1]:
            way = slide(a, *gone, kept) if gone[0] < gone[1] else slide(b, *come, kept)
            gone, come = (gone[0] - way, gone[1] - way), (come[0] - way, come[1] - way)
        if gone[0] == gone[1] and come[0] == come[1]: kept += 1; continue
        out.append((len("".join(a[:gone[0]]).encode()), "".join(a[slice(*gone)]).encode(),
                    "".join(b[slice(*come)]).encode()))
        kept = 0                                            # one word at least stays before the next splice
    return joined(out)

def slide(words, start, end, limit):
    """By how many words some that come or go can move to the left, so that they begin with their space."""
    way = 0
    while start < end and words[start - way][0] != " ":
        if way == limit or words[start - 1 - way] != words[end - 1 - way]: return 0
        way += 1
    return way

# Undoing one's own words, and nobody else's.

def divided(splice, others):
    """What a splice removes, as [start, end, whether others changed it]; words that they write within are changed, and
    so are the blanks and marks in between."""
    at, gone, _ = splice
    end, out = at + len(gone), []
    met = [o for o in others
           if at < o[0] < end or o[0] < at < o[0] + len(o[1]) or max(at, o[0]) < min(end, o[0] + len(o[1]))]
    if not met or not gone: return [[at, end, bool(met)]]
    def text(start, stop): return gone[start - at:stop - at].decode()
    def add(start, stop, is_changed):
        if start == stop: return
        if out and out[-1][2] == is_changed: out[-1][1] = stop
        else: out.append([start, stop, is_changed])
    def gap(start, stop):
        between = text(start, stop)
        if any(not o[1] and start < o[0] < stop for o in met) or not has_word(between): return add(start, stop, True)
        is_end = stop == end and not has_word(between[-1:])
        own = start                                         # blanks behind a word that stays belong to it
        if out and out[-1][2] and (is_end or len(out) == 1 and splice[2]):
            for c in characters(between):
                if has_word(c): break
                own += len(c.encode())
        add(start, own, True); add(own, stop, False)
    done = at
    for start, removed, _ in (o for o in met if o[1]):
        start, stop = max(start, at), min(start + len(removed), end)
        if start > done:
            before = text(done, start)
            blank = start - len(before.encode()) + len(before.rstrip().encode())
            gap(done, blank); add(blank, start, True)
        add(start, stop, True); done = max(done, stop)
    gap(done, end)
    return out

def keeping(mine, others):
    """Divides a change of a text into what may be done without removing words of the others, and the rest."""
    allowed, left = [], []
    for meeting in meetings(others, mine):
        for splice in meeting[3]:
            at, gone, come = splice
            parts = divided(splice, meeting[2])
            first = next((i for i, part in enumerate(parts) if not part[2]), 0)
            for i, (start, end, is_changed) in enumerate(parts):
                piece = (start, gone[start - at:end - at], come if i == first else b"")
                (left if is_changed else allowed).append(piece)
    return joined(allowed), joined(left)

def keeping_words(undo, since):
    """Divides the inverse of an edit by the others' edits since, made on the same list: what may be undone, the changes
    of words that are left out, and these words as entries of `lost`, by the index after the others' edits."""
    undo, since = normalised(undo), normalised(since)
    items = max(reach(undo), reach(since))
    X, Y, left, kept = View(undo, items), View(since, items), [{} for _ in range(items)], []
    for i in range(items):
        if X.fate[i] == DELETE: continue
        change = X.change[i] = dict(X.change[i])
        for f in TEXTS:
            if f in change and f in Y.change[i]:
                change[f], left[i][f] = keeping(change[f], Y.change[i][f])
                if map_index(since, i) is None: continue
                kept += [(map_index(since, i), {"lost": "words", "field": f, **words})
                         for words in lost_words(left[i][f], Y.change[i][f])]
    steps, at = [], 0
    for part in undo:
        if "edit" in part: steps.append((KEEP, tidy(X.change[at])))
        elif "insert" in part: steps += [("insert", item, part["side"]) for item in part["insert"]]
        elif "drop" in part:
            steps += [("drop", X.origin[s], part["side"], tidy(X.change[X.origin[s]])) for s in range(*part["drop"])]
        elif PICK in part: steps += [(PICK, i) for i in range(at, at + part[PICK])]
        else: steps += [(KEEP, {}) if KEEP in part else (DELETE,)] * reach([part])
        at += reach([part])
    return normal(steps), normal([(KEEP, tidy(change)) for change in left]), kept

def carried(undo, other):
    """What another change of a text leaves of one that takes words back, as a change of the text after it."""
    out, shift = [], 0
    for meeting in meetings(undo, other):
        cuts, passed, start = list(meeting[3]), shift, 0
        for at, gone, come in meeting[2]:
            start = max(start, at)
            for stop, cut_out, put in [c for c in cuts if c[0] < at + len(gone)] + [(at + len(gone), None, None)]:
                if stop > start or not meeting[3]:
                    out.append((start + passed, gone[start - at:max(start, stop) - at], come)); come = b""
                if cut_out is None: break
                start = max(start, stop + len(cut_out)); passed += len(put) - len(cut_out); cuts.pop(0)
        shift += grown(meeting[3])
    return joined(out)

def lost_to(undo, later):
    """The words that a later change replaces, of those that `undo` would take back, both made on the same text. What
    was only removed leaves no words; it is lost if somebody puts some of the removed words back."""
    out, shift, removed = [], 0, None
    for meeting in meetings(undo, later):
        mine, theirs, at = meeting[2], meeting[3], meeting[0]
        new = theirs[0] if theirs and not mine and not theirs[0][1] else None
        common = new and removed and removed[0] == at and any(
            has_word(word) and word in words(removed[2].decode()) for word in words(new[2].decode()))
        if common: texts = removed[2], b"", new[2]
        else: texts = made(meeting, mine), made(meeting, []), made(meeting, theirs)
        if common or mine and theirs and texts[1] != texts[2]:
            out.append({"at": at + shift, **dict(zip(("original", "words", "present"), (t.decode() for t in texts)))})
        removed = mine[0] if mine and not theirs and not mine[0][1] else None
        shift += grown(theirs)
    return out

# The digest of a list.

KINDS = {"card": 1, "note": 2, "task": 3, "link": 4, "heading": 5}
PRIME, BASE = 2**61 - 1, 0x0e3b7c9d5f17a36b

def varint(n): return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)

def card_code(card):
    """0 for a card face down, 1 to 52 for the others."""
    if card == "??": return 0
    return "♣♦♥♠".index(card[-1]) * 13 + "A 2 3 4 5 6 7 8 9 10 J Q K".split().index(card[:-1]) + 1

def item_bytes(item):
    """An item as it is on the wire."""
    number = 0
    for c in item["id"]: number = number << 5 | "0123456789abcdefghjkmnpqrstvwxyz".index(c)
    kind, text = item["kind"], item.get("text", "").encode()
    if kind == "card": content = bytes([card_code(item["card"])])
    elif kind == "task": content = bytes([item["done"]]) + text
    elif kind == "link": content = varint(len(text)) + text + item["url"].encode()
    elif kind in KINDS: content = text
    else: content = base64.b64decode(item["bytes"])
    return (number >> 1).to_bytes(8, "little") + varint(KINDS.get(kind, kind) * 16 + item["level"]) + varint(len(content)) + content

def hash_of(item):
    h = 0xcbf29ce484222325
    for byte in item_bytes(item): h = (h ^ byte) * 0x100000001b3 % 2**64
    for factor in 0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53: h = (h ^ h >> 33) * factor % 2**64
    return (h ^ h >> 33) % PRIME

def digest(items):
    total = 0
    for item in items: total = (total * BASE + hash_of(item)) % PRIME
    return f"{total:016x}"
