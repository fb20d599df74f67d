"""Types of the messages to a page (docs/WATCH.md explains them).

Messages about a running switch come from our own code. A recording is a file, which may be damaged or edited, so each
of its messages is checked against its type here before a page gets it.
"""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from p4sched.json_records import RecordError, check, excerpt


class Port(TypedDict):
    """Port of a switch in a scene."""

    port: int
    rate: int
    discipline: str
    busy: bool
    sizes: Mapping[int, int]
    label: NotRequired[str]
    lengths: NotRequired[bool]
    note: NotRequired[str]


class Limit(TypedDict):
    """A line in the chart of queue lengths: `traits.Limit`."""

    label: str
    parameter: str
    share: str


class Switch(TypedDict):
    """A switch in a scene."""

    scheme: str | None
    label: str
    target: str
    rtt_s: float
    users: list[int]
    weights: list[float]
    ports: list[Port]
    queue: NotRequired[str]
    limits: NotRequired[list[Limit]]
    ranks: NotRequired[str | None]


class Node(TypedDict):
    """Node of a network."""

    name: str
    kind: str
    layer: int


class End(TypedDict):
    """End of a link; a host has no port."""

    node: str
    port: int | None


class Topology(TypedDict):
    """Network around the switches; empty if it is unknown."""

    nodes: NotRequired[list[Node]]
    links: NotRequired[list[list[End]]]


class Scene(TypedDict):
    """See `messages.scene`."""

    title: str
    switches: Mapping[str, Switch]
    topology: Topology
    same: NotRequired[bool]
    time: NotRequired[str]
    unit: NotRequired[str]


class Ranks(TypedDict):
    """Ranks of a port."""

    window: NotRequired[list[float]]
    lowest: NotRequired[int]
    highest: NotRequired[int]
    bounds: NotRequired[Mapping[int, int]]


class OfSwitch(TypedDict):
    """A switch in a frame, by port, and within a port by bucket of ranks."""

    q: Mapping[int, list[float]]
    tx: Mapping[int, int]
    drop: NotRequired[Mapping[int, list[int]]]
    u: NotRequired[list[int]]
    fair: NotRequired[int]
    a: NotRequired[Mapping[int, Mapping[int, int]]]
    r: NotRequired[Mapping[int, Ranks]]


class Frame(TypedDict):
    """See `messages.frame`."""

    t: float
    s: Mapping[str, OfSwitch]


class Parameters(TypedDict):
    """See `messages.parameters`."""

    t: float
    switch: str
    port: int | None
    values: Mapping[str, int]


class Counters(TypedDict):
    """Input of a law: bytes and scale by user, packets and bytes by verdict."""

    users: NotRequired[Mapping[int, list[int]]]
    read_ns: NotRequired[int]
    admitted: NotRequired[list[int]]
    refused: NotRequired[list[int]]
    full: NotRequired[list[int]]
    ranks: NotRequired[list[int]]
    depths: NotRequired[list[int]]


class Decision(TypedDict):
    """See `decisions.LogTail`."""

    t: float
    switch: str
    port: int | None
    text: str
    before: Mapping[str, int] | None
    after: Mapping[str, int]
    counters: Counters
    outcome: Mapping[str, Any]


class Change(TypedDict):
    """See `messages.change`."""

    t: float
    switch: str
    port: int | None
    text: str


class Note(TypedDict):
    """See `messages.note`."""

    t: float
    text: str


class Health(TypedDict):
    """See `messages.health`."""

    valid: bool
    text: str
    doubts: list[str]


FORMS: Mapping[str, type] = {
    "scene": Scene,
    "frame": Frame,
    "parameters": Parameters,
    "decision": Decision,
    "change": Change,
    "note": Note,
    "health": Health,
}
"""Types of all messages of a recording, by kind."""


def check_message(message: Mapping[str, Any]) -> None:
    """Raises RecordError for a message of an unknown kind, or with another type than its kind."""
    kind = message.get("kind")
    if not isinstance(kind, str) or kind not in FORMS:
        raise RecordError(f"kind is {excerpt(kind)}, not one of {', '.join(FORMS)}")
    check(kind, message, FORMS[kind])
