"""The cases of groups 1 to 5 and 7 of the Autobahn test suite, under its numbers, against `hand serve --web`.

    python3 cases.py URL

Each case runs with its bytes as they are, and byte by byte but for the middle of long messages. What is sent are pings of
hand's own protocol, which the server echoes as pongs. Text is refused in group 1; the other groups send binary messages
where Autobahn's are text. websockets makes the frames, and wsproto reads the answers. HAND_CA names the file of the
authority that has signed the server's certificate.
"""
import os, random, select, socket, ssl, sys
from urllib.parse import urlsplit

from websockets.frames import Frame
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, BytesMessage, CloseConnection, Pong, Request

HOST = urlsplit(sys.argv[1])
TLS = ssl.create_default_context(cafile=os.environ["HAND_CA"]) if HOST.scheme == "wss" else None
MORE, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
BROKEN, NOT_BINARY, NOT_UTF8 = 1002, 1003, 1007
EDGE = 4000


def varint(n):
    return bytes([n & 127 | (n > 127) << 7]) + (varint(n >> 7) if n > 127 else b"")


def pings(size):
    """Pings of hand's protocol of so many bytes in all: 0, or from 3 on."""
    content = b""
    while left := size - len(content):
        count = left if left <= 9 else 6 if left < 12 else 9
        nonce = b"".join(bytes([128 | random.randrange(128)]) for _ in range(count - 3)) + bytes([random.randrange(1, 128)])
        content += bytes([count - 1, 6]) + nonce
    return content


def answers(content):
    """The pongs for those pings that are there whole."""
    echo = b""
    while content and len(content) > content[0]:
        echo, content = echo + content[:1] + b"\t" + content[2:content[0] + 1], content[content[0] + 1:]
    return echo


def frame(opcode, content=b"", fin=True, reserved=0):
    data = bytearray(Frame(BINARY, content).serialize(mask=True))
    data[0] = fin << 7 | reserved << 4 | opcode
    return bytes(data)


def end(code=None, reason=b""): return frame(CLOSE, b"" if code is None else code.to_bytes(2, "big") + reason)


class Connection:
    def __init__(self, size):
        """Sends in pieces of so many bytes."""
        self.size, self.echo, self.pongs, self.code = size, b"", [], None
        self.socket = socket.create_connection((HOST.hostname, HOST.port), 60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if TLS: self.socket = TLS.wrap_socket(self.socket, server_hostname=HOST.hostname)
        self.web, self.is_accepted = WSConnection(ConnectionType.CLIENT), False
        origin = f"{'https' if TLS else 'http'}://{HOST.netloc}".encode()
        self.socket.sendall(self.web.send(Request(host=HOST.netloc, target="/", extra_headers=[(b"Origin", origin)])))
        hello = b"\1HAND\5\5\0" + os.urandom(16) + b"\3eve\5cases\0\0"
        self.wait(lambda: self.is_accepted)
        self.send(frame(BINARY, bytes([len(hello)]) + hello))
        self.wait(lambda: self.echo)
        self.echo = b""

    def send(self, data):
        """Reads what comes meanwhile. The server may have hung up before everything is sent."""
        at = 0
        try:
            while at < len(data):
                # The middle of a long message is the same at each of its bytes.
                size = self.size if at < EDGE or at >= len(data) - EDGE else max(self.size, 1000)
                self.socket.sendall(data[at:at + size])
                at += size
                if at % 1000 < size and select.select([self.socket], [], [], 0)[0]: self.read()
        except OSError: pass

    def wait(self, has_come):
        while not has_come() and self.read(): pass

    def read(self):
        """Reads once; returns whether more can come."""
        try: data = self.socket.recv(1 << 16)
        except ConnectionResetError: return False
        if not data: return False
        self.web.receive_data(data)
        for event in self.web.events():
            if isinstance(event, AcceptConnection): self.is_accepted = True
            elif isinstance(event, BytesMessage): self.echo += event.data
            elif isinstance(event, Pong): self.pongs.append(bytes(event.payload))
            elif isinstance(event, CloseConnection): self.code = event.code
            else: sys.exit(f"unexpected: {event}")
        return True


def cases():
    """The number, the frames, what of their content is echoed, the answers to pings, and the code of the end."""
    small, other, long = pings(20), pings(30), bytes([0, 255, 254, 253, 252, 251, 0, 255]) * 16
    one, two = frame(BINARY, small), frame(BINARY, other)
    halves = frame(BINARY, small[:7], fin=False), frame(MORE, small[7:])
    half, rest = halves
    for i, size in enumerate([0, 125, 126, 127, 128, 65535, 65536, 65536], 1):
        yield f"1.1.{i}", frame(TEXT, b"*" * size), b"", [], NOT_BINARY
        content = pings(size)
        yield f"1.2.{i}", frame(BINARY, content), content, [], None
    for i, content in enumerate([b"", b"Hello", long[:8], long[:125]], 1):
        yield f"2.{i}", frame(PING, content), b"", [content], None
    yield "2.5", frame(PING, long[:126]), b"", [], BROKEN
    yield "2.6", frame(PING, long[:125]), b"", [long[:125]], None
    yield "2.7", frame(PONG), b"", [], None
    yield "2.8", frame(PONG, b"unsolicited"), b"", [], None
    yield "2.9", frame(PONG, b"unsolicited") + frame(PING, b"ping"), b"", [b"ping"], None
    many = [b"payload %d" % i for i in range(10)]
    for number in "2.10", "2.11": yield number, b"".join(frame(PING, one) for one in many), b"", many, None
    yield "3.1", frame(BINARY, small, reserved=1), b"", [], BROKEN
    for number, bits in ("3.2", 2), ("3.3", 3), ("3.4", 4):
        yield number, one + frame(BINARY, other, reserved=bits) + frame(PING), small, [], BROKEN
    yield "3.5", frame(BINARY, small, reserved=5), b"", [], BROKEN
    yield "3.6", frame(PING, reserved=6), b"", [], BROKEN
    yield "3.7", frame(CLOSE, reserved=7), b"", [], BROKEN
    for group, first in (1, 3), (2, 11):
        yield f"4.{group}.1", frame(first), b"", [], BROKEN
        yield f"4.{group}.2", frame(first + 1, small), b"", [], BROKEN
        for i, content in (3, b""), (4, small), (5, small):
            yield f"4.{group}.{i}", one + frame(first + i - 1, content) + frame(PING), small, [], BROKEN
    yield "5.1", frame(PING, b"a", fin=False) + frame(MORE, b"b"), b"", [], BROKEN
    yield "5.2", frame(PONG, b"a", fin=False) + frame(MORE, b"b"), b"", [], BROKEN
    for i in 3, 4, 5: yield f"5.{i}", half + rest, small, [], None
    for i in 6, 7, 8: yield f"5.{i}", half + frame(PING, b"between") + rest, small, [b"between"], None
    for i in 9, 10, 11: yield f"5.{i}", frame(MORE, small) + two, b"", [], BROKEN
    for i in 12, 13, 14: yield f"5.{i}", frame(MORE, small, fin=False) + two, b"", [], BROKEN
    yield "5.15", half + rest + frame(MORE, other, fin=False) + two, small, [], BROKEN
    yield "5.16", (frame(MORE, small, fin=False) + half + rest) * 2, b"", [], BROKEN
    yield "5.17", (frame(MORE, small) + half + rest) * 2, b"", [], BROKEN
    yield "5.18", half + frame(BINARY, small[7:]), small[:7], [], BROKEN
    parts = [frame(MORE, small[at:at + 4], fin=False) for at in range(4, 20, 4)]
    split = frame(BINARY, small[:4], fin=False) + parts[0] + frame(PING, b"1") + parts[1] + parts[2] + frame(PING, b"2")
    for i in 19, 20: yield f"5.{i}", split + frame(MORE, small[16:]), small, [b"1", b"2"], None
    yield "7.1.1", one + end(1000), small, [], 1000
    yield "7.1.2", end(1000) + end(1000), b"", [], 1000
    yield "7.1.3", end(1000) + frame(PING), b"", [], 1000
    yield "7.1.4", end(1000) + one, b"", [], 1000
    yield "7.1.5", half + end(1000) + rest, b"", [], 1000
    content = pings(1 << 18)
    yield "7.1.6", frame(BINARY, content) + end(1000) + frame(PING), content, [], 1000
    yield "7.3.1", end(), b"", [], 1000
    yield "7.3.2", frame(CLOSE, b"a"), b"", [], BROKEN
    yield "7.3.3", end(1000), b"", [], 1000
    yield "7.3.4", end(1000, b"Hello World!"), b"", [], 1000
    yield "7.3.5", end(1000, b"*" * 123), b"", [], 1000
    yield "7.3.6", end(1000, b"*" * 124), b"", [], BROKEN
    yield "7.5.1", end(1000, b"Hello-\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xed\xa0\x80edited"), b"", [], NOT_UTF8
    valid = 1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999
    for i, code in enumerate(valid, 1): yield f"7.7.{i}", end(code), b"", [], code
    for i, code in enumerate([0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999], 1): yield f"7.9.{i}", end(code), b"", [], BROKEN
    for i, code in enumerate([5000, 65535], 1): yield f"7.13.{i}", end(code), b"", [], BROKEN


def problem(frames, content, pings, code, size):
    """Runs a case. Returns what is wrong."""
    connection, echo = Connection(size), answers(content)
    connection.send(frames)
    if code is None:
        connection.wait(lambda: len(connection.echo) >= len(echo) and len(connection.pongs) >= len(pings))
        if connection.echo != echo: return f"{len(connection.echo)} bytes of echo, expected {len(echo)}"
        if connection.pongs != pings: return f"the pongs {connection.pongs}, expected {pings}"
        connection.send(end(1000))
    connection.wait(lambda: False)
    if connection.code != (code or 1000): return f"the end {connection.code}, expected {code or 1000}"
    # Who hangs up, or breaks the rules, may miss the answers to what came before.
    if not echo.startswith(connection.echo): return "an echo of something else"


table, failed = list(cases()), 0
for number, *case in table:
    for size, manner in (1 << 20, "whole"), (1, "byte by byte"):
        if wrong := problem(*case, size):
            failed += 1
            print(f"{number} {manner}: {wrong}")
print(f"{len(table)} cases, {failed} failed")
