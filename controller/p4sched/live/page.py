"""Serves the page, and sends messages to it over a WebSocket.

Other web pages must not reach the server: a request must have the server's name, and a request from another machine
also the token.
"""

import asyncio
import errno
import os
import secrets
import socket
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

import uvicorn
import youplot.vendor
from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from p4sched.errors import P4schedError
from p4sched.live.hub import Hub

STATIC = Path(__file__).parent / "static"
VENDOR = Path(youplot.vendor.__file__).parent
VENDORED = {"uplot.js": VENDOR / "uplot.iife.min.js", "uplot.css": VENDOR / "uplot.min.css"}
"""The chart library, from a Python package that contains it."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")
USUAL_PORT = 8080
ANY = {"0.0.0.0": "192.0.2.1", "::": "2001:db8::1"}
"""Names for all addresses of a machine, each with an address of a documentation network (RFC 5737, RFC 3849) outside
the machine."""
DISCARD = 9
"""Port of the discard service, which need not exist."""
POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self' ws: wss:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {"Content-Security-Policy": POLICY, "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}
"""Headers of all answers."""
MOST_COMMAND_BYTES = 4096
OWN_ADDRESS = "'--host' takes an address of this machine, for example 127.0.0.1 or 0.0.0.0"


class NotListeningError(P4schedError):
    """The address or the port is not free."""


def files() -> Iterator[tuple[str, Path]]:
    """All files of the page, by the names in their URLs."""
    yield from ((path.name, path) for path in sorted(STATIC.iterdir()) if path.is_file())
    yield from VENDORED.items()


@dataclass
class Page:
    """The server of one page."""

    hub: Hub
    host: str = "127.0.0.1"
    port: int | None = None
    """0: any free port. None: the default port, or a free port if it is taken."""
    config: Mapping[str, Any] = field(default_factory=lambda: {"mode": "live"})
    """Configuration for the page."""
    recording: str | None = None
    """Messages of a finished run, in JSON, for a replay."""
    token: str = ""

    def __post_init__(self) -> None:
        if self.host not in LOOPBACK and not self.token:
            self.token = secrets.token_urlsafe(16)

    @property
    def addresses(self) -> list[str]:
        """Addresses for browsers: for other machines, if they have access, and for this machine."""
        hosts = [self.host] if self.host not in ANY else own_hosts(self.host)
        query = f"?token={self.token}" if self.token else ""
        return [f"http://{f'[{host}]' if ':' in host else host}:{self.port}/{query}" for host in hosts]

    @property
    def cookie(self) -> str:
        """Name of the cookie with the token. It has the port, because all ports of a host share the cookies."""
        return f"p4sched_token_{self.port}"

    def app(self) -> Starlette:
        """Application with the routes of the page."""
        routes = [
            Route("/", self._index),
            Route("/config.json", self._config),
            WebSocketRoute("/messages", self._messages),
        ]
        if self.recording is not None:
            routes.append(Route("/replay.json", self._recording))
        routes.append(Route("/{name}", self._file))
        return Starlette(routes=routes)

    def listen(self) -> socket.socket:
        """Opens the port. Raises NotListeningError."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        try:
            socket.getaddrinfo(self.host, None, family)
        # UnicodeError: a part of the name is too long
        except (socket.gaierror, UnicodeError) as error:
            raise NotListeningError(f"cannot listen on {self.host}: no such host; {OWN_ADDRESS}") from error
        try:
            if self.port is not None:
                listening = socket.create_server((self.host, self.port), family=family)
            else:
                try:
                    listening = socket.create_server((self.host, USUAL_PORT), family=family)
                except OSError:
                    listening = socket.create_server((self.host, 0), family=family)
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
            if error.errno == errno.EADDRNOTAVAIL:
                raise NotListeningError(f"cannot listen on {self.host}: {reason}; {OWN_ADDRESS}") from error
            raise NotListeningError(
                f"cannot listen on {self.host}:{self.port or 0}: {reason}; '--port 0' takes any port that is free"
            ) from error
        self.port = listening.getsockname()[1]
        return listening

    async def serve(self, listening: socket.socket) -> None:
        """Serves until it is cancelled; then sends a last message to the viewers."""
        config = uvicorn.Config(
            self.app(), log_level="error", lifespan="off", ws_per_message_deflate=False, timeout_graceful_shutdown=1
        )
        server = _Server(config)
        with listening:
            serving = asyncio.create_task(server.serve(sockets=[listening]))
            try:
                await asyncio.shield(serving)
            except asyncio.CancelledError:
                server.should_exit = True
                await serving
                raise

    def _is_refused(self, request: HTTPConnection) -> bool:
        """True if the request comes from another web page, or has no token."""
        origin, host = request.headers.get("origin"), request.headers.get("host", "")
        if origin is not None and origin.partition("://")[2] != host:
            return True
        if not self.token:
            # another name that resolves to this machine may be an attack (DNS rebinding)
            return host.rpartition(":")[0].strip("[]") not in LOOPBACK
        token = request.query_params.get("token") or request.cookies.get(self.cookie, "")
        return not secrets.compare_digest(token.encode(), self.token.encode())

    async def _index(self, request: Request) -> Response:
        response = await self._answer(request, STATIC / "index.html")
        if self.token and response.status_code == HTTPStatus.OK:
            response.set_cookie(self.cookie, self.token, httponly=True, samesite="strict")
        return response

    async def _file(self, request: Request) -> Response:
        found = dict(files()).get(request.path_params["name"])
        return (
            PlainTextResponse("not found", HTTPStatus.NOT_FOUND, HEADERS)
            if found is None
            else await self._answer(request, found)
        )

    async def _recording(self, request: Request) -> Response:
        if self._is_refused(request):
            return self._forbidden()
        return Response(self.recording, headers=HEADERS, media_type="application/json")

    async def _config(self, request: Request) -> Response:
        return self._forbidden() if self._is_refused(request) else JSONResponse(dict(self.config), headers=HEADERS)

    async def _answer(self, request: Request, path: Path) -> Response:
        return self._forbidden() if self._is_refused(request) else FileResponse(path, headers=HEADERS)

    def _forbidden(self) -> Response:
        return PlainTextResponse("open the address that 'p4sched watch' printed", HTTPStatus.FORBIDDEN, HEADERS)

    async def _messages(self, connection: WebSocket) -> None:
        if self._is_refused(connection):
            await connection.close()
            return
        await connection.accept()
        sending = asyncio.create_task(self._send(connection))
        with suppress(WebSocketDisconnect):
            while True:
                text = await connection.receive_text()
                if self.hub.command is not None and len(text) <= MOST_COMMAND_BYTES:
                    await self.hub.command(text)
        sending.cancel()

    async def _send(self, connection: WebSocket) -> None:
        with suppress(WebSocketDisconnect, RuntimeError):
            async for text in self.hub.listen():
                await connection.send_text(text)


def own_hosts(anywhere: str) -> list[str]:
    """Addresses by which browsers reach a server that listens on all addresses of this machine."""
    family = socket.AF_INET6 if ":" in anywhere else socket.AF_INET
    loopback = "::1" if ":" in anywhere else "127.0.0.1"
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            # sends nothing: the kernel only selects the source address
            probe.connect((ANY[anywhere], DISCARD))
        except OSError:
            return [loopback]
        return list(dict.fromkeys([str(probe.getsockname()[0]), loopback]))


class _Server(uvicorn.Server):
    """A server that leaves signals to its caller."""

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        return nullcontext()
