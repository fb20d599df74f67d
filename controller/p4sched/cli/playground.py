"""`p4sched playground`: the lab in a browser tab."""

import webbrowser
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Annotated

import typer

from p4sched.errors import P4schedError
from p4sched.paths import PLAYGROUND_DIR, in_repository


class _Files(SimpleHTTPRequestHandler):
    """Serves the files, and logs nothing."""

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, *_: object) -> None:
        pass


def server(folder: Path, port: int) -> ThreadingHTTPServer:
    """A server of the files in a folder, for this machine. Raises P4schedError if it cannot listen."""
    try:
        return ThreadingHTTPServer(("127.0.0.1", port), partial(_Files, directory=str(folder)))
    except OSError as error:
        raise P4schedError(f"--port {port}: cannot listen there ({error.strerror})") from error


def playground(
    port: Annotated[int, typer.Option(help="Port of this machine; 0: any free one.", min=0, max=65535)] = 8081,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
) -> None:
    """Serve the lab in a browser tab to this machine, until Ctrl-C.

    The folder of the page works on any web server. Nothing in it runs on the server.
    """
    if not (PLAYGROUND_DIR / "index.html").is_file():
        raise P4schedError(f"{PLAYGROUND_DIR} is not built; this builds it: {in_repository('make playground')}")
    with server(PLAYGROUND_DIR, port) as serving:
        address = f"http://127.0.0.1:{serving.server_port}/"
        typer.echo(f"The lab is at {address}; Ctrl-C ends it. Its files are in {PLAYGROUND_DIR}.")
        if browser:
            webbrowser.open(address)
        serving.serve_forever()
