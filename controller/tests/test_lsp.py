"""`p4sched lsp`, driven over its protocol as an editor does."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lab import P4SCHED

from p4sched.paths import ROOT

PROGRAM = ROOT / "p4" / "aifo.p4"


class Client:
    """An editor with one server."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self.number = 0

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def tell(self, method: str, params: object) -> None:
        self.send({"method": method, "params": params})

    def ask(self, method: str, params: object) -> Any:
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        while (message := self.read()).get("id") != self.number:
            pass
        return message["result"]

    def read(self) -> dict[str, Any]:
        stream = self.process.stdout
        assert stream is not None
        length = 0
        while (line := stream.readline().strip()) != b"":
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        found: dict[str, Any] = json.loads(stream.read(length))
        return found


@pytest.fixture
def client() -> Iterator[Client]:
    process = subprocess.Popen([str(P4SCHED), "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        client = Client(process)
        client.ask("initialize", {"capabilities": {}, "processId": None, "rootUri": None})
        client.tell("initialized", {})
        yield client
        client.ask("shutdown", None)
        client.tell("exit", None)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()


def test_an_editor_gets_messages_types_and_completion(client: Client) -> None:
    uri, text = PROGRAM.as_uri(), PROGRAM.read_text()

    def place(before: str) -> dict[str, Any]:
        head = text[: text.index(before) + len(before)]
        at = {"line": head.count("\n"), "character": len(head) - head.rfind("\n") - 1}
        return {"textDocument": {"uri": uri}, "position": at}

    client.tell("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "p4", "version": 1, "text": text}})
    message = client.read()
    assert message["method"] == "textDocument/publishDiagnostics"
    assert message["params"]["diagnostics"] == []
    found = client.ask("textDocument/hover", place("meta.ran"))
    assert "type: `" in found["contents"]["value"]
    (file,) = {each["uri"] for each in [client.ask("textDocument/definition", place("meta.ran"))]}
    assert Path(file.removeprefix("file://")).is_file()
    names = {each["label"] for each in client.ask("textDocument/completion", place("standard_metadata."))}
    assert {"egress_spec", "ingress_port"} <= names


def test_what_is_no_message_ends_the_server_with_a_sentence() -> None:
    done = subprocess.run([str(P4SCHED), "lsp"], input=b"hello\r\n\r\n", capture_output=True, check=False, timeout=60)
    assert done.returncode == 1
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("p4sched-lsp: ")
