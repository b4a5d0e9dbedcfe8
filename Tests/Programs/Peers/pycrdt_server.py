"""A server for Yjs documents by pycrdt-websocket: pycrdt is the Python binding of yrs, which is Yjs in Rust.

    python3 pycrdt_server.py PORT

Needs pycrdt-websocket, uvicorn, websockets and uvloop. No storage; a document's name is the path in the connection's
URL. Prints `ready` once it listens.

It echoes: the room observes its document and sends each update to all connections, the sender's included, exactly as
y-websocket does. So a client may use the return of its own update as the acknowledgement.
"""

import asyncio
import socket
import sys

import uvicorn
import uvloop
from pycrdt.websocket import ASGIServer, WebsocketServer


class Server(uvicorn.Server):
    """Prints a line when it listens, for which the starting program waits."""

    async def startup(self, sockets=None):
        await super().startup(sockets)
        print("ready", flush=True)


def forgiving(application):
    """Keeps a room alive when a client leaves before a message to it is sent: the failed send would end the room."""

    async def run(scope, receive, send):
        async def send_if_there(event):
            try:
                await send(event)
            except OSError:
                pass

        await application(scope, receive, send_if_there)

    return run


async def serve(listener):
    # A room stays when its last client leaves, as in y-websocket's server, so that it can be examined after a load.
    async with WebsocketServer(auto_clean_rooms=False) as rooms:
        config = uvicorn.Config(
            forgiving(ASGIServer(rooms)),
            ws="websockets-sansio",
            # The other servers do not compress either.
            ws_per_message_deflate=False,
            lifespan="off",
            access_log=False,
            log_level="warning",
            timeout_graceful_shutdown=1,
        )
        await Server(config).serve(sockets=[listener])


def main():
    if len(sys.argv) != 2 or not sys.argv[1].isdigit():
        print("usage: python3 pycrdt_server.py PORT", file=sys.stderr)
        return 2
    try:
        listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=2048)
    except OSError as error:
        print(f"cannot listen on port {sys.argv[1]}: {error.strerror}", file=sys.stderr)
        return 1
    # The loop is chosen here because uvicorn's own choice applies only to loops that it starts.
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve(listener))
    return 0


if __name__ == "__main__":
    sys.exit(main())
