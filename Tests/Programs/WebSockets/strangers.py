"""Clients of `hand serve --web` with WebSockets of other people; a test runs them.

    python3 strangers.py chopped URL LIST TEXT…   the client in Python (Sources/Examples/Python), over wsproto
    python3 strangers.py snapshot URL LIST COUNT  reads as many items of a list over websockets, and hangs up
    python3 strangers.py end URL TOKEN            says hello over websockets, and waits for the end

HAND_CA names the file of the authority that has signed the server's certificate.
"""
import asyncio, os, runpy, select, socket, ssl, sys
from urllib.parse import urlsplit

import websockets
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, BytesMessage, CloseConnection, Ping, Pong, Request

MODE, URL = sys.argv[1:3]
HOST = urlsplit(URL)
ORIGIN = f"{'https' if HOST.scheme == 'wss' else 'http'}://{HOST.netloc}"
TLS = ssl.create_default_context(cafile=os.environ["HAND_CA"]) if HOST.scheme == "wss" else None


class Wire:
    """A WebSocket in the place of a socket. Each message is sent byte by byte, in two fragments around a ping."""

    connect = socket.create_connection

    def __init__(self, address):
        self.socket, self.data, self.pings, self.pong, self.code = Wire.connect(address), b"", 0, None, None
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if TLS: self.socket = TLS.wrap_socket(self.socket, server_hostname=HOST.hostname)
        self.web = WSConnection(ConnectionType.CLIENT)
        self.chop(Request(host=HOST.netloc, target="/", extra_headers=[(b"Origin", ORIGIN.encode())]))
        self.is_accepted = False
        while not self.is_accepted: self.read()

    def chop(self, *events):
        for byte in b"".join(map(self.web.send, events)): self.socket.sendall(bytes([byte]))

    def sendall(self, data):
        self.pings += 1
        self.chop(BytesMessage(data[:1], message_finished=False), Ping(b"%d" % self.pings), BytesMessage(data[1:]))

    def read(self):
        """Reads once; returns whether more can come."""
        data = self.socket.recv(65536)
        if not data: return False
        self.web.receive_data(data)
        for event in self.web.events():
            if isinstance(event, AcceptConnection): self.is_accepted = True
            elif isinstance(event, BytesMessage): self.data += event.data
            elif isinstance(event, Pong): self.pong = bytes(event.payload)
            elif isinstance(event, CloseConnection): self.code = event.code
            else: sys.exit(f"unexpected: {event}")
        return True

    def recv(self, _):
        while not self.data and self.code is None and self.read(): pass
        data, self.data = self.data, b""
        return data

    def __enter__(self): return self

    def __exit__(self, *_):
        """Closes as the RFC says: the server answers, and hangs up."""
        self.chop(CloseConnection(code=1000))
        while self.read(): pass
        print("closed", self.code, "last ping answered", self.pong == b"%d" % self.pings)

    @staticmethod
    def select(wires, _, __, timeout):
        """What is in the buffers of Python's TLS is not in the socket any more."""
        wire, = wires
        is_ready = wire.data or TLS and wire.socket.pending()
        return (wires, [], []) if is_ready else (select_sockets([wire.socket], [], [], timeout))


select_sockets = select.select


def string(data): return bytes([len(data)]) + data


def hello(token=b""):
    return string(b"\1HAND\5\5\0" + os.urandom(16) + string(b"eve") + string(b"stranger") + string(token) + b"\0")


def varint(data, at):
    n = shift = 0
    while True:
        n, shift, at = n | (data[at] & 127) << shift, shift + 7, at + 1
        if data[at - 1] < 128: return n, at


async def bodies(web):
    """The bodies of the protocol's frames, which messages may cut anywhere."""
    data = b""
    async for message in web:
        data += message
        while True:
            try: size, at = varint(data, 0)
            except IndexError: break
            if len(data) < at + size: break
            yield data[at:at + size]
            data = data[at + size:]


def connect():
    # Offers compression, which the server does not take, and sends a ping every tenth of a second.
    return websockets.connect(URL, ssl=TLS, origin=ORIGIN, ping_interval=0.1, max_size=None)


async def snapshot(name, size):
    async with connect() as web:
        await web.send(hello() + string(b"\2\1" + string(name.encode()) + bytes(8) + b"\0\1"))
        count, answers = 0, bodies(web)
        async for body in answers:
            if body[0] == 3: count += varint(body, varint(body, 1)[1])[0]
            if count == int(size): break
        await asyncio.wait_for(await web.ping(b"x" * 125), 30)
        # The connection is still of use: the protocol's own ping is answered, too.
        await web.send(string(b"\6\7"))
        async for body in answers:
            if body == b"\t\7": break
        else: sys.exit("the connection has ended")
    print("items", count, "compression", web.extensions, "closed", web.close_code)


async def end(token):
    numbers = []
    async with connect() as web:
        await web.send(hello(token.encode()))
        try:
            async for body in bodies(web): numbers.append(body[0])
        except websockets.ConnectionClosed: pass
    print("messages", *numbers, "closed", web.close_code)


if MODE == "chopped":
    socket.create_connection, select.select = Wire, Wire.select
    folder = os.path.join(os.path.dirname(__file__), "..", "..", "..", "Sources", "Examples", "Python")
    sys.argv[1:] = [HOST.hostname, str(HOST.port)] + sys.argv[3:]
    runpy.run_path(os.path.join(folder, "client.py"))
else:
    asyncio.run({"snapshot": snapshot, "end": end}[MODE](*sys.argv[3:]))
