"""The machine of a full client for one list: the handlers of Protocol.md, as they stand on the page, and what they need
around them: undo, and telling people what others have overridden.

Messages have the fields of the test vectors; `check.py` runs the machine on `machine.jsonl`. It has no disk: a program
writes what must be kept after each handler, before it carries out `out`.
"""
from algebra import *

NONE = "0" * 16                                             # the log id of a client that has nothing

class Edit:
    """A pending edit. Each is made on the result of the one before it, the first on `confirmed`."""
    def __init__(self, delta, seen, exact=None):
        self.delta, self.seen, self.exact = delta, seen, exact      # exact: the only base on which it may be committed
        self.sequence, self.crossed = None, False                   # crossed: carried over the difference to a snapshot

class Undos:
    """Edits that can be undone, or redone: their inverses, and what has happened since each was made."""
    def __init__(self): self.entries = []                   # [inverse, what others did before the next entry]

    def push(self, inverse): self.entries.append([inverse, []])

    def follow(self, delta):
        """Somebody else's edit."""
        if self.entries and delta: self.entries[-1][1] = compose(self.entries[-1][1], delta)

    def pop(self):
        """The edit that undoes the newest one, and the words of others that stay, in place of one's own."""
        if not self.entries: return None
        inverse, since = self.entries.pop()
        allowed, left, kept = keeping_words(inverse, since)
        if self.entries:                                    # the entry below sees this edit undone, but for its words
            stays = [{"edit": {f: invert_text(v) for f, v in part["edit"].items()}} if "edit" in part else part
                     for part in transform(left, allowed, True)]
            for delta in stays, transform(since, allowed, False): self.follow(delta)
        delta = transform(allowed, since, True)
        twice = deleting(delta, since)                      # a deletion that was refused, or undone by somebody else
        self.follow(twice)
        delta = compose(delta, twice)
        return delta, [(map_index(delta, i), lost) for i, lost in kept if map_index(delta, i) is not None]

def deleting(delta, other):
    """The deletion of the items that a delta inserts although another has inserted them, on the list that it leaves."""
    there, steps = {item["id"] for part in other if "insert" in part for item in part["insert"]}, []
    for part in delta:
        if "insert" in part: steps += [(DELETE,) if i["id"] in there else (KEEP, {}) for i in part["insert"]]
        elif "drop" in part: steps += [(KEEP, {})] * (part["drop"][1] - part["drop"][0])
        elif DELETE not in part and PICK not in part: steps += [(KEEP, {})] * reach([part])
    return normal(steps)

class OwnWork:
    """What one's own commits did to items, to tell when somebody who had not seen them overrides them."""
    def __init__(self): self.items = {}                     # id: [(revision, is moved, fields, values, words undone)]

    def carry(self, id, change):
        """The work on an item, after another change of its texts."""
        return [(*work, {f: carried(v, change[f]) if f in change else v for f, v in words.items()})
                for *work, words in self.items.get(id, [])]

    def record(self, c, items):
        """One's own commit, made on these items."""
        for item, fate, change in touched(items, c.delta):
            words = {f: invert_text(v) for f, v in change.items() if f in TEXTS}
            values = {f: v for f, v in change.items() if f not in TEXTS}
            work = self.carry(item["id"], change) + [(c.revision, fate == PICK, list(change), values, words)]
            if fate == DELETE: self.items.pop(item["id"], None)             # the item may come back with another text
            else: self.items[item["id"]] = work

    def overridden(self, c, items):
        """What somebody's commit, made on these items, overrides: pairs of an item's id and what is lost."""
        out = []
        all = [t for t in touched(items, c.delta) if t[0]["id"] in self.items]
        for item, fate, change in sorted(all, key=lambda t: t[1] != DELETE):
            id, unseen = item["id"], [w for w in self.items[item["id"]] if c.base < w[0]]
            wanted = {f: v for w in unseen for f, v in w[3].items()}            # the last values
            fields = [f for f in FIELDS if (any(f in w[2] for w in unseen) if fate == DELETE
                      else f in wanted and f in change and wanted[f] != change[f])]
            if fate != KEEP and any(w[1] for w in unseen): out.append((id, {"lost": "move"}))
            if fields: out.append((id, {"lost": "edit", "fields": fields}))
            if fate == DELETE: del self.items[id]; continue
            out += [(id, {"lost": "words", "field": f, **words}) for w in unseen for f in TEXTS
                    if f in w[4] and f in change for words in lost_to(w[4][f], change[f])]
            self.items[id] = self.carry(id, change)
        return out

def touched(items, delta):
    """The items that a delta edits, moves to another place or deletes, with what becomes of them and their changes."""
    view, stay = View(normalised(delta), len(items)), [0]
    for fate in view.fate: stay.append(stay[-1] + (fate == KEEP))       # stay[i]: items before i that stay
    fates = [KEEP if fate == PICK and stay[view.place[i]] == stay[i] else fate for i, fate in enumerate(view.fate)]
    return [(item, fate, change) for item, fate, change in zip(items, fates, view.change) if fate != KEEP or change]

def missing(mine, items, edited, snapshot):
    """What of an edit, which led from some items to others, a snapshot that contains it does not show."""
    others = {item["id"]: (fate, change) for item, fate, change in touched(edited, diff(edited, snapshot))}
    here, out = {item["id"] for item in snapshot}, []
    old = {item["id"] for item in items}
    for item in (item for item in edited if item["id"] not in old):
        fate, change = others.get(item["id"], (KEEP, {}))
        if item["id"] not in here: out.append((item["id"], {"lost": "edit", "fields": list(FIELDS)}))
        else: out += losses(item["id"], {f: whole(item[f]) for f in TEXTS if f in item}, change)
    work = touched(items, mine)
    out += [(item["id"], {"lost": "edit", "fields": list(FIELDS)}) for item, fate, _ in work
            if fate == DELETE and item["id"] in here]
    for item, fate, change in (w for w in work if w[1] != DELETE):
        id = item["id"]
        theirs, other = others.get(id, (KEEP, {}))
        if fate == PICK and theirs != KEEP: out.append((id, {"lost": "move"}))
        both = [f for f in change if theirs == DELETE or f in other and f not in TEXTS]
        if both: out.append((id, {"lost": "edit", "fields": both}))
        if theirs != DELETE:
            out += losses(id, {f: invert_text(v) for f, v in change.items() if f in TEXTS}, other)
    return out

def whole(text): return [{"at": 0, "removed": text, "inserted": ""}]

def losses(id, undo, change):
    return [(id, {"lost": "words", "field": f, **words}) for f in TEXTS if f in undo and f in change
            for words in lost_to(undo[f], change[f])]

def became(mine, made):
    """Whether a commit's delta is what was submitted: the server changes only the faces of cards that it deals."""
    def backs(delta):
        hide = lambda item: {**item, "card": "??"} if item["kind"] == "card" else item
        return [{**part, "insert": list(map(hide, part["insert"]))} if "insert" in part else part for part in delta]
    return mine == made or backs(mine) == backs(made)

class Machine:
    """One list of a client. A program calls the handlers, then carries out what is in `out` and `told`."""
    def __init__(m):
        m.name, m.log, m.revision, m.confirmed, m.used, m.author = "list", NONE, 0, [], 0, None
        m.in_flight, m.buffer, m.view, m.has_diverged = None, [], [], False
        m.undos, m.redos, m.overrode, m.work = Undos(), Undos(), False, OwnWork()
        m.requests, m.is_shared, m.out, m.told = 0, False, [], []
        m.lost()

    def send(m, message, **fields): m.out.append((message, fields))
    def tell(m, **what): m.told.append(what)
    def tell_lost(m, lost, author, revision):
        for id, what in lost: m.tell(overridden=id, **what, author=author, revision=revision)
    def give_up(m): m.tell(disconnected=True); m.lost()     # close the connection; another one begins after a wait
    def end(m, why): m.tell(ended=why)                      # the list is no longer followed; what is pending stays kept
    def pending(m): return ([m.in_flight] if m.in_flight else []) + m.buffer

    # One's own edits.

    def edited(m, delta, exact=False):  # made on the view
        m.undos.push(invert(m.view, delta)); m.redos = Undos()
        m.make(delta, exact)

    def make(m, delta, exact=False):
        m.view, last = apply(m.view, delta), m.buffer[-1] if m.buffer else None
        if last and last.exact is None and not exact: last.delta = compose(last.delta, delta)
        elif delta or exact: m.buffer.append(Edit(delta, m.revision, m.revision if exact else None))
        m.submit()

    def undo(m): m.step(m.undos, m.redos)
    def redo(m): m.step(m.redos, m.undos)
    def step(m, stack, other):
        made = stack.pop()
        if made is None: return
        delta, kept = made
        other.push(invert(m.view, delta))
        m.make(delta)
        for i, lost in kept: m.tell(kept=m.view[i]["id"], **lost)

    # Submissions.

    def submit(m):
        if not m.is_live or m.in_flight or not m.buffer: return
        m.used += 1
        m.in_flight = m.buffer.pop(0); m.in_flight.sequence = m.used
        m.send_in_flight()

    def send_in_flight(m):
        e = m.in_flight
        m.sent, m.sender, m.base = e.sequence, m.author, m.revision if e.exact is None else e.exact
        how = 1 if e.exact is not None else 1 + m.revision - e.seen if e.seen < m.revision else 0
        m.send("submit", list=m.list, base=m.base, sequence=e.sequence, how=how, delta=e.delta)

    def renumber(m, last):  # every sequence up to this one is used
        m.used = max(m.used, last)
        if m.in_flight and m.in_flight.sequence <= last:
            m.used += 1
            m.in_flight.sequence, m.in_flight.crossed = m.used, False

    def resubmit(m, last):  # another program has the client id
        m.is_shared = True
        if m.has_diverged: return
        m.renumber(last)
        if m.is_live: m.send_in_flight()

    # The connection.

    def lost(m):
        m.list = m.request = m.sent = m.head = m.incoming = None
        m.is_live = m.by_log = m.awaits_name = False

    def welcome(m, w):
        m.author = w.author
        m.subscribe()

    def subscribe(m, by_log=False):
        m.requests += 1
        m.request, m.by_log, m.is_live, m.head, m.incoming = m.requests, by_log, False, None, None
        log, revision = (NONE[8:] + m.log[8:], 0) if m.has_diverged else (m.log, m.revision)
        m.send("subscribe", request=m.request, name="" if by_log else m.name, logID=log, revision=revision)

    def subscribed(m, s):
        if s.request != m.request: return
        if m.pending() and m.log != NONE and s.logID[8:] != m.log[8:]:  # another list has the name
            m.send("unsubscribe", list=s.list)
            m.list = m.sent = None
            m.subscribe(by_log=True); return
        if s.list != m.list: m.sent = None
        m.list, m.last, m.awaits_name, m.by_log, m.is_live = s.list, s.lastSequence, m.by_log, False, False
        if "resumed" in s.start:
            m.incoming, m.head = None, s.start["resumed"]["head"]
            if m.head == m.revision and s.start["resumed"]["digest"] != digest(m.confirmed):
                m.diverge(m.revision)
            else: m.catch_up()
        else:
            m.snapshot, m.incoming = s, []
            if s.start["snapshot"]["count"] == 0: m.chunk([])

    def chunk(m, items):
        if m.incoming is None: return
        s, start = m.snapshot, m.snapshot.start["snapshot"]
        m.incoming += items
        if len(m.incoming) < start["count"]: return
        if len(m.incoming) > start["count"] or digest(m.incoming) != start["digest"]: m.give_up(); return
        new, revision, base, e = m.incoming, start["revision"], m.confirmed, m.in_flight
        if s.logID[8:] != m.log[8:]: m.undos, m.redos = Undos(), Undos()
        is_same = e and s.logID[8:] == m.log[8:]
        if is_same and e.sequence == m.last and s.isLastRefused:
            m.take_back(e, base, "reasonForgotten")
        elif is_same and (e.sequence == m.last or e.sequence < m.last and has_items_of(e.delta, new)):
            base, m.in_flight = apply(base, e.delta), None
            m.tell(committed=e.sequence, revision=revision)
            m.tell_lost(missing(e.delta, m.confirmed, base, new), 0, revision)
        if m.in_flight: m.in_flight.crossed = True
        is_as_far = revision == m.revision and digest(new) != digest(m.confirmed)
        if s.logID != m.log or revision < m.revision or is_as_far:  # what its people saw is gone
            for e in [e for e in m.pending() if e.exact is not None]: m.take_back(e, base, "revisionMoved")
            for e in m.pending(): e.seen = 0
        m.confirmed, m.revision, m.log, m.head, m.incoming = new, revision, s.logID, revision, None
        m.has_diverged, m.work = False, OwnWork()
        m.carry(diff(base, new), base, m.pending(), 0)
        m.renumber(m.last); m.catch_up()

    def catch_up(m):
        if m.is_live or m.head is None or m.incoming is not None or m.has_diverged: return
        if m.revision < m.head or m.awaits_name: return
        m.is_live = True
        m.renumber(m.last)
        if m.in_flight and m.sent != m.in_flight.sequence: m.send_in_flight()
        else: m.submit()

    # What the server sends about the list.

    def commit(m, c):
        if m.incoming is not None or m.has_diverged or c.revision <= m.revision: return
        if c.revision > m.revision + 1: m.diverge(c.revision); return
        e, refused = m.in_flight, hasattr(c, "refused")
        is_mine = e and (c.author, c.sequence) == (m.sender, e.sequence)
        is_others = is_mine and not refused and not became(e.delta, c.delta)
        if is_others and e.crossed: m.diverge(); return  # only a snapshot shows the outcome
        base = m.confirmed
        try: new = apply(base, c.delta)
        except (AssertionError, UnicodeDecodeError): new = None  # it does not fit
        if new is None or len(new) != c.count or digest(new) != c.digest: m.diverge(c.revision); return
        if is_mine and refused: m.take_back(e, base, c.refused["reason"])
        m.confirmed, m.revision = new, c.revision
        if is_mine and not refused and not is_others:
            m.in_flight = None
            m.work.record(c, base)
            base = apply(base, e.delta)
            m.carry(diff(base, new), base, m.buffer)  # nothing, but for a card that was dealt
            m.tell(committed=c.sequence, revision=c.revision)
        elif not (is_mine and refused):
            lost = m.work.overridden(c, base)
            if c.author != m.author: m.tell_lost(lost, c.author, c.revision)
            m.carry(c.delta, base, m.pending(), c.author)
        if is_others: m.tell(usedTwice=c.revision); m.resubmit(c.sequence)
        elif m.is_live: m.submit()
        else: m.catch_up()

    def carry(m, d, base, pending, author=None):
        """Somebody's edit of `base`, on which the first of `pending` was made: what is left of it changes the view."""
        for p in pending:
            both = superseded(base, d, p.delta)
            lost = [x for x in both if x.pop("loser") == "second"]
            m.overrode |= len(lost) < len(both)
            if author is not None: m.tell_lost([(x.pop("item"), x) for x in lost], author, m.revision)
            base, p.delta, d = apply(base, p.delta), transform(p.delta, d, True), transform(d, p.delta, False)
        m.view = apply(m.view, d)
        m.undos.follow(d); m.redos.follow(d)
        if m.overrode and not m.pending(): m.undos, m.redos, m.overrode = Undos(), Undos(), False

    def take_back(m, e, base, reason):
        """A pending edit that will not be committed is undone beneath the later ones."""
        before, after = split(m.pending(), e)
        for p in before: base = apply(base, p.delta)
        if e is m.in_flight: m.in_flight = None
        else: m.buffer.remove(e)
        m.tell(rejected=reason)
        m.carry(invert(base, e.delta), apply(base, e.delta), after, m.author)

    def diverge(m, revision=None):
        m.has_diverged = True
        if revision is not None: m.tell(diverged=revision)
        m.subscribe()

    def rejected(m, r):
        if not m.in_flight or r.sequence != m.in_flight.sequence: return
        m.take_back(m.in_flight, m.confirmed, r.rejection["reason"])
        m.submit()

    def stale(m, s):
        if not m.in_flight or s.sequence != m.in_flight.sequence: return
        if m.sent and s.head <= m.base: m.give_up(); return
        m.sent = None
        if m.head is not None: m.is_live, m.head = False, s.head
        m.catch_up()

    def acknowledged(m, a):
        if not m.in_flight or a.sequence != m.in_flight.sequence or a.revision > m.revision: return
        m.sent = None
        if a.revision == 0: m.subscribe()  # too long ago: `last sequence` tells
        else: m.resubmit(a.sequence)  # that commit is here, and was not this edit

    def renamed(m, r):
        if r.list != m.list: return
        is_asked = m.head is None and m.incoming is None and not m.by_log
        if r.name != m.name:
            m.name = r.name; m.tell(renamed=m.name)
            if is_asked: m.subscribe()
        m.awaits_name = False
        m.catch_up()

    def error(m, e):
        if e.code == "notSubscribed":
            if e.list == m.list: m.list = m.sent = None; m.subscribe()
        elif e.request == m.request and e.code == "noSuchList" and m.log != NONE and not m.by_log:
            m.subscribe(by_log=True)
        elif e.request == m.request:
            m.end("editsWait" if e.code == "noSuchList" and m.pending() else e.code)

def split(pending, e): i = pending.index(e); return pending[:i], pending[i + 1:]

def has_items_of(delta, items):
    ids = {item["id"] for part in delta for item in part.get("insert", [])}
    return any(item["id"] in ids for item in items)
