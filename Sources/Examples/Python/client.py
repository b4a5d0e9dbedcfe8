# python3 client.py HOST PORT LIST TEXT…: appends a note for each text, says what became of it, then prints the list.
import os, random, select, socket, sys, time

def varint(n): return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)
def string(data): return varint(len(data)) + data

class Fields:
    """Reads one field after the other."""
    def __init__(self, data): self.data, self.at = data, 0
    def take(self, n):
        if self.at + n > len(self.data): raise EOFError
        self.at += n
        return self.data[self.at - n:self.at]
    def varint(self):
        n = shift = 0
        while True:
            byte = self.take(1)[0]
            n, shift = n | (byte & 127) << shift, shift + 7
            if byte < 128: return n
    def string(self): return self.take(self.varint())
    def items(self, n): return [(self.take(8), self.varint(), self.string()) for _ in range(n)]
    def rules(self): self.varint(), self.varint(), self.take(1)[0] & 2 and [self.varint() for _ in range(self.varint())]
    def values(self, mask): return {bit: self.value(bit) for bit in (1, 2, 4, 8, 16, 32) if mask & bit}
    def value(self, bit):                                   # a function of what was there
        if bit in (1, 4):
            splices = [(self.varint(), self.string(), self.string()) for _ in range(self.varint())]
            return lambda old: spliced(old, splices)
        new = self.take(1) if bit in (2, 8, 32) else self.string()
        return lambda old: new

def spliced(old, splices):
    new, at = b"", 0
    for kept, removed, inserted in splices:
        new += old[at:at + kept] + inserted
        at += kept + len(removed)
    return new + old[at:]

def changed(item, new):
    id, head, body = item
    same, kind = lambda old: old, head >> 4
    head = kind << 4 | new.pop(32, same)(bytes([head & 15]))[0]                         # level
    if kind == 3: body = new.get(2, same)(body[:1]) + new.get(1, same)(body[1:])        # task: done, text
    elif kind == 4:                                                                     # link: text, URL
        old = Fields(body)
        body = string(new.get(1, same)(old.string())) + new.get(4, same)(body[old.at:])
    else: body = next(iter(new.values()), same)(body)
    return id, head, body

def apply(old, f):
    new, picked, at = [], [], 0
    for _ in range(f.varint()):
        n, code = divmod(f.varint(), 8)
        if code == 0: new += old[at:at + n]; at += n
        elif code == 1: new.append(changed(old[at], f.values(n))); at += 1
        elif code == 2: at += n
        elif code == 3: picked += old[at:at + n]; at += n
        elif code < 6: new += f.items(n)
        else:
            slot = f.varint()
            change = f.values(f.varint()) if slot & 1 else {}
            new += [("drop", slot // 2 + i, change) for i in range(n)]
    return [changed(picked[i[1]], i[2]) if i[0] == "drop" else i for i in new + old[at:]]

def digest(items):
    total = 0
    for id, head, body in items:
        h = 0xcbf29ce484222325
        for byte in id + varint(head) + string(body): h = (h ^ byte) * 0x100000001b3 % 2**64
        for factor in 0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53: h = (h ^ h >> 33) * factor % 2**64
        total = (total * 0x0e3b7c9d5f17a36b + (h ^ h >> 33)) % (2**61 - 1)
    return total.to_bytes(8, "little")

def frame(data):
    """The first frame of some bytes, or None if it is incomplete."""
    try: return Fields(Fields(data).string())
    except EOFError: return None

class Client:
    def __init__(self, name, texts):
        self.me, self.name, self.wanted = os.urandom(16), name.encode(), texts
        self.items, self.revision, self.log = [], 0, bytes(8)
        self.used, self.sequence, self.id = 0, None, None   # of one's own: the last sequence used, the one in flight
        self.failures, self.strange, self.replaced = 0, [], []

    def send(self, number, *fields): self.socket.sendall(string(bytes([number]) + b"".join(fields)))

    def submit(self):
        """Appends the next text: an insertion `before` the end, made on the current list."""
        if not self.wanted or self.sent: return
        if not self.sequence: self.sequence = self.used = self.used + 1      # each is used once
        self.sent = self.sequence
        self.id = self.id or os.urandom(8)
        keep = varint(len(self.items) * 8) if self.items else b""
        insert = varint(1 * 8 + 5) + self.id + varint(2 << 4) + string(self.wanted[0].encode())
        self.send(4, varint(self.list), varint(self.revision), varint(self.sequence), varint(0),
                  varint(2 if keep else 1), keep, insert)

    def again(self, why, times, period):
        """Gives up if it happens for the fourth time within so many seconds."""
        times.append(time.monotonic())
        if len(times) > 3 and times[-1] - times[-4] < period: sys.exit(why)
        raise ConnectionError(why)

    def answered(self, fate):
        """The submission in flight is committed or rejected."""
        print(fate, self.wanted.pop(0))
        self.sent = self.sequence = self.id = None

    def caught_up(self):
        if not self.is_live and self.incoming is None and self.head is not None and self.revision >= self.head:
            self.is_live, self.used, self.failures = True, max(self.used, self.last), 0
        if self.is_live: self.submit()

    def receive(self, f):
        number = f.take(1)[0]
        if number == 1:
            if f.varint() != 5: sys.exit("the server speaks another version")
            f.varint(); self.author = f.varint(); self.pause = f.varint() / 3000
        elif number == 2:                                   # subscribed: resumed, or a snapshot
            f.varint(); self.list = f.varint(); log = f.take(8); f.rules()
            self.last, self.refused, self.is_live = f.varint(), f.take(1) == b"\1", False
            if f.take(1) == b"\0":
                self.head = f.varint()
                if self.head == self.revision and f.take(8) != digest(self.items): sys.exit("this list is not the server's")
            else: self.incoming, self.start = [], (f.varint(), f.varint(), f.take(8), log)
        elif number == 3: f.varint(); self.incoming += f.items(f.varint())
        elif number == 4 and self.incoming is None:         # commit
            f.varint(); revision, author, sequence = f.varint(), f.varint(), f.varint()
            lag, _, count, sum = f.varint(), f.varint(), f.varint(), f.take(8)
            if revision > self.revision:
                if lag: self.items = apply(self.items, f)       # else it is a refusal, and changes nothing
                self.revision = revision
                if len(self.items) != count or digest(self.items) != sum: sys.exit("this list is not the server's")
                if author == self.author and sequence == self.sequence:
                    self.answered("committed" if lag else "rejected")
        elif number == 5: f.varint(); self.answered("rejected") if f.varint() == self.sequence else None
        elif number == 6: f.varint(), f.varint(); self.head, self.is_live, self.sent = f.varint(), False, None
        elif number == 7:                                   # acknowledged: the commit has arrived, or will
            f.varint()
            if f.varint() == self.sequence and f.varint() <= self.revision: raise ConnectionError
        elif number == 14:                                  # error
            code, _, _, wait, text = f.varint(), f.varint(), f.varint(), f.varint(), f.string().decode()
            if code in (6, 7, 8, 9, 18, 19, 27):
                time.sleep(wait / 1000); self.again(text, self.replaced if code == 9 else [], 60)
            if code != 26: sys.exit(text)
        elif not 0 < number < 19: self.again("a message that nobody knows", self.strange, 600)
        if self.incoming is not None and len(self.incoming) >= self.start[1]:
            revision, _, sum, log = self.start
            if digest(self.incoming) != sum: raise ConnectionError("a snapshot arrived damaged")
            if log == self.log and self.sequence and self.last >= self.sequence:
                self.answered("rejected" if self.refused and self.last == self.sequence else "committed")
            self.items, self.incoming, self.revision, self.head, self.log = self.incoming, None, revision, revision, log
        self.caught_up()

    def connect(self, host, port):
        """Keeps one connection until nothing remains to be done."""
        self.sent = self.head = self.incoming = None
        self.is_live, self.pause, data = False, 10.0, b""
        with socket.create_connection((host, port)) as self.socket:
            self.send(1, b"HAND", varint(5), varint(5), varint(0), self.me, string(b"ann"), string(b"first client"),
                      string(b""), varint(0))
            self.send(2, varint(1), string(self.name), self.log, varint(self.revision), b"\1")
            pinged = time.monotonic()
            while self.wanted or not self.is_live:
                wait = pinged + self.pause - time.monotonic()
                if wait <= 0: self.send(6, varint(0)); pinged = time.monotonic(); continue
                if not select.select([self.socket], [], [], wait)[0]: continue
                more = self.socket.recv(65536)
                if not more: raise ConnectionError("the server closed the connection")
                data += more
                while (f := frame(data)):                   # all that are complete
                    data = data[len(string(f.data)):]
                    self.receive(f)

client = Client(sys.argv[3], sys.argv[4:])
while True:
    try: client.connect(sys.argv[1], int(sys.argv[2])); break
    except OSError: time.sleep(random.random() * min(15, 0.1 * 2 ** client.failures)); client.failures += 1
for _, head, body in client.items: print("-", body[1:].decode() if head >> 4 == 3 else body.decode(errors="replace"))
