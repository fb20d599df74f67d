"""The queues in a terminal. The line of a queue shows its length now and before, and rate and drops of its port."""

import json
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass
from typing import IO, Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

BLOCKS = " ▁▂▃▄▅▆▇█"
SPARKS = 40
"""Characters of a sparkline; each shows the longest queue in SPARK_S seconds."""
SPARK_S = 0.25
JITTER_S = 0.02
MOST_LINES = 24
FEWEST_LINES = 4
REST_LINES = 10
"""Lines of the terminal for everything else."""
QUEUES = 8
NOTHING = (0,) * QUEUES


@dataclass(frozen=True)
class Line:
    """Line of one queue."""

    port: str
    """Text of the port, on the line of its first queue; rate and drops belong to the port."""
    queue: str
    length: str
    past: str
    rate: str
    drops: str


class TextView:
    """A table for rich with the newest messages."""

    def __init__(self) -> None:
        self._scene: Mapping[str, Any] = {}
        self._frame: Mapping[str, Any] = {}
        self._sizes: dict[tuple[str, int | None], dict[int, int]] = {}
        self._history: dict[tuple[str, int, int], deque[int]] = {}
        self._since_s = 0.0
        self._lock = threading.Lock()

    def take(self, message: Mapping[str, Any]) -> None:
        """Reads one message."""
        with self._lock:
            kind = message["kind"]
            if kind == "scene":
                self._scene = message
                if not message.get("same"):
                    self._frame, self._sizes, self._history, self._since_s = {}, {}, {}, 0.0
            elif kind in ("parameters", "decision"):
                values = message["values" if kind == "parameters" else "after"]
                self._sizes[message["switch"], message["port"]] = sizes_of(values)
            elif kind == "frame":
                self._take_frame(message)

    def take_lines(self, lines: IO[bytes]) -> None:
        """Reads messages, one a line, to the end."""
        # the file is closed when the view ends
        with suppress(ValueError):
            for line in lines:
                self.take(json.loads(line))

    def _take_frame(self, frame: Mapping[str, Any]) -> None:
        self._frame = frame
        begins = frame["t"] - self._since_s >= SPARK_S - JITTER_S
        if begins:
            self._since_s = frame["t"]
        for name, of_switch in frame["s"].items():
            for port in self._scene["switches"][name]["ports"]:
                # a port with empty queues is not in the message
                lengths = of_switch["q"].get(str(port["port"]), NOTHING)
                for queue, length in enumerate(lengths):
                    past = self._history.setdefault((name, port["port"], queue), deque([0], SPARKS))
                    if begins:
                        past.append(length)
                    else:
                        past[-1] = max(past[-1], length)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        with self._lock:
            if not self._frame:
                return
            table = Table("port", "queue", "length", "", "Mbit/s", "drops/s", box=None, header_style="bold")
            for column in (2, 4, 5):
                table.columns[column].justify = "right"
            lines = list(self._lines())
            room = max(FEWEST_LINES, min(MOST_LINES, console.size.height - REST_LINES))
            if len(lines) > room:
                # shows only queues that hold packets or recently held some
                lines = [line for line in lines if line.port or line.past.strip()]
            for line in lines[:room]:
                table.add_row(*astuple(line))
            if len(lines) > room:
                table.add_row("", f"and {len(lines) - room} more")
            yield table
            if self._scene.get("time") == "virtual":
                yield Text(f"{self._frame['t']:.1f} s of virtual time", style="dim")

    def _lines(self) -> Iterator[Line]:
        for name, switch in self._scene.get("switches", {}).items():
            of_switch = self._frame.get("s", {}).get(name)
            for port in switch["ports"] if of_switch is not None else ():
                if port["busy"]:
                    yield from self._of_port(name, port, of_switch, switch.get("queue", "queue"))

    def _of_port(self, name: str, port: Mapping[str, Any], of_switch: Mapping[str, Any], word: str) -> Iterator[Line]:
        number = str(port["port"])
        lengths = of_switch["q"].get(number, ())
        rate = of_switch["tx"].get(number, 0) / 1e3
        drops = sum(of_switch.get("drop", {}).get(number, ()))
        sizes = self._sizes_of(name, port)
        for place, (queue, size) in enumerate(sorted(sizes.items(), reverse=True)):
            first = (f"{name}:{number}", f"{rate:.1f}", str(drops)) if place == 0 else ("", "", "")
            length = lengths[queue] if queue < len(lengths) else 0
            line = spark(self._history.get((name, port["port"], queue), ()), size)
            called = word if len(sizes) == 1 else f"{word} {QUEUES - queue}"
            yield Line(first[0], called, f"{length} of {size}", line, first[1], first[2])

    def _sizes_of(self, name: str, port: Mapping[str, Any]) -> Mapping[int, int]:
        """Packets that each queue can hold, as the program or the port limits it."""
        own = {int(queue): size for queue, size in port["sizes"].items()}
        known = self._sizes.get((name, port["port"])) or self._sizes.get((name, None)) or {}
        if port["discipline"] == "strict":
            return known or own
        return {queue: known.get(queue, size) for queue, size in own.items()}


def sizes_of(values: Mapping[str, int]) -> dict[int, int]:
    """Sizes of queues by priority, if the parameters of a program contain them."""
    found = {}
    for number in range(1, QUEUES + 1):
        size = values.get(f"size_{number}") or values.get(f"depth_{number}")
        if size:
            found[QUEUES - number] = size
    return found or ({0: values["capacity_packets"]} if values.get("capacity_packets") else {})


def spark(past: Sequence[int] | deque[int], size: int) -> str:
    """Sparkline of a queue: full height is a full queue."""
    top = max(size, *past, 1) if past else 1
    # a queue with packets is never drawn as empty
    levels = (-(-length * (len(BLOCKS) - 1) // top) for length in past)
    return "".join(BLOCKS[level] for level in levels).rjust(SPARKS)


@contextmanager
def following(address: str, view: TextView) -> Iterator[None]:
    """Shows the messages of a page's server in the view during the block."""
    url = address.replace("http://", "ws://", 1).partition("?")[0] + "messages"
    with connect(url, max_size=None, proxy=None) as connection:
        reading = threading.Thread(target=_read, args=(connection, view), daemon=True)
        reading.start()
        try:
            yield
        finally:
            connection.close()
            reading.join()


def _read(connection: ClientConnection, view: TextView) -> None:
    with suppress(WebSocketException):
        for text in connection:
            found = json.loads(text)
            for message in found if isinstance(found, list) else [found]:
                view.take(message)
