"""Runs networks in virtual time from Python: takes a scenario, returns numpy arrays.

    >>> from p4sched import simulate
    >>> link = simulate.Link.of("1gbit", "10us")
    >>> scenario = simulate.Scenario(
    ...     topology=simulate.Dumbbell(hosts=2, access=link, bottleneck=simulate.Link.of("100mbit", "1ms")),
    ...     ports=simulate.Ports("packs", queues=4, queue_size=10, window=20),
    ...     flows=[simulate.Flow("u1", "server", 1_000_000), simulate.Flow("u2", "server", 20_000, start_ns=5_000_000)],
    ...     ranks="remaining",
    ...     end_ns=1_000_000_000,
    ... )
    >>> result = simulate.run(scenario)
    >>> bool(result.flows["completion_s"][1] < result.flows["completion_s"][0] < 0.2)
    True
    >>> [int(size) for size in result.flows["bytes"]]
    [1000000, 20000]
    >>> int(result.port("s1", 3)["sent_packets"]) > 700
    True
    >>> simulate.run(scenario.with_(ports=simulate.Ports("wfq")))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    p4sched.errors.P4schedError: ports.scheme: there is no scheme wfq: use one of fifo, pifo, ...

`switch/simulator/SCENARIOS.md` describes each field. A scenario may also be a file, or a mapping with the fields of
such a file. The same scenario gives the same result on any machine. Each run is a process of `p4sched-simulate`.
"""

import asyncio
import json
import os
import re
import signal
import subprocess
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from p4sched.errors import P4schedError
from p4sched.folders.native import Command, command, fault
from p4sched.folders.schemes import named
from p4sched.json_records import MALFORMED
from p4sched.paths import DATA_DIR
from p4sched.schemes import SCHEMES
from p4sched.units import Rate, delay_ns

__all__ = [
    "DATA_CENTRE",
    "NEW_RENO",
    "Dumbbell",
    "EndedError",
    "FatTree",
    "Flow",
    "Incast",
    "LabFile",
    "LeafSpine",
    "Link",
    "Poisson",
    "Ports",
    "Result",
    "Scenario",
    "SimulationWarning",
    "Topology",
    "flow_list",
    "read",
    "run",
    "udp",
]

BINARY = "p4sched-simulate"
SCENARIO, FLOWS, FLOW_LIST, SUMMARY = "scenario.json", "flows.csv", "flow_list.csv", "summary.json"
LISTED = ("start_ns", "source", "destination", "bytes")
"""Columns of a list of flows in a file."""
Array = NDArray[Any]
WARNING = "warning: "
"""Beginning of a line of the simulator about a scenario that runs."""
DONE = re.compile(r"\d+ of \d+ flows completed; ")
"""Beginning of the last line of the simulator."""


NAMES = {"it --with p4": "it with programs=True", "--with p4": "programs=True", "--check": "check=True"}
"""Names in Python of the options in the simulator's messages."""
FLOATING = re.compile(r"invalid type: floating point `([^`]+)`, expected u64")


class SimulationWarning(UserWarning):
    """A scenario that runs, but whose results are likely to mislead."""


class EndedError(P4schedError):
    """An error if a signal ended the simulator: from the kernel, because memory ran out, or from a person."""


def _set_fields(value: Any) -> dict[str, Any]:
    """The JSON form of a dataclass, without fields that are not set."""
    found = {each.name: getattr(value, each.name) for each in fields(value)}
    return {name: inner for name, inner in found.items() if inner is not None}


@dataclass(frozen=True)
class Link:
    """A link, in both directions."""

    rate_bps: int
    """Rate in bit/s of frames."""
    delay_ns: int = 0
    """Propagation delay, each way."""

    @classmethod
    def of(cls, rate: str, delay: str | None = None) -> Self:
        """Parses text such as `10gbit` and `20us`."""
        return cls(int(Rate.parse(rate)), 0 if delay is None else delay_ns(delay))


@dataclass(frozen=True)
class Topology:
    """Base class of the topologies below, whose shapes `SCENARIOS.md` describes."""

    shape: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        """The JSON form of the topology in a scenario."""
        return {self.shape: asdict(self)}


@dataclass(frozen=True)
class Dumbbell(Topology):
    """Hosts `u1` .., and `server` behind the bottleneck."""

    shape = "dumbbell"
    hosts: int
    access: Link
    bottleneck: Link


@dataclass(frozen=True)
class Incast(Topology):
    """Senders `h1` .. at one switch, and `receiver` behind the bottleneck."""

    shape = "incast"
    senders: int
    access: Link
    bottleneck: Link


@dataclass(frozen=True)
class LeafSpine(Topology):
    """Hosts `h1` .., rack by rack; `hosts` are those of each leaf."""

    shape = "leaf_spine"
    leaves: int
    spines: int
    hosts: int
    access: Link
    fabric: Link


@dataclass(frozen=True)
class FatTree(Topology):
    """Hosts `h1` .., edge by edge; `k` are the ports of each switch."""

    shape = "fat_tree"
    k: int
    access: Link
    fabric: Link


@dataclass(frozen=True)
class LabFile(Topology):
    """The network of a file for `p4sched-virtual`."""

    shape = "file"
    path: Path
    access: Link
    """Links of the hosts."""
    hosts: Mapping[str, Link] = field(default_factory=dict)
    """Links of some hosts, by name, in place of `access`."""
    fabric: Link | None = None
    """Links between switches."""

    def to_json(self) -> dict[str, Any]:
        content = asdict(self) | {"path": str(self.path.absolute())}
        return {self.shape: {name: value for name, value in content.items() if value is not None}}


@dataclass(frozen=True)
class Ports:
    """The scheduler of all ports. A field of None has the default of `p4sched-stepped`."""

    scheme: str
    """Name of a scheme, or the path of a scheduler's folder (`./gearbox`)."""
    queues: int | None = None
    queue_size: int | None = None
    """Packets in each queue; a scheme with one queue holds `queues` times as many."""
    window: int | None = None
    headroom_256: int | None = None
    window_shift: int | None = None
    parameters: Mapping[str, int] | None = None
    """Parameters of the program's action, by name, in place of the sizes."""
    target: str | None = None
    variants: Sequence[str] | None = None
    """Rules of the authors' simulations in place of those of the text."""
    flowlets: Mapping[str, int] | None = None
    """Only for the variant `flowlet_queue`: `gap_ns` and `cells` of its table."""
    mark_at_packets: int | None = None
    length_period_ns: int | None = None
    """Time between two copies of the lengths that the rule of `aifo`, `rifo` or `packs` knows; None: it sees its
    queues."""
    cell_bytes: int | None = None
    """Bytes of a cell, if this rule knows lengths in cells."""
    memory: Mapping[str, Any] | None = None
    """The memory that all ports of a switch share: `packets`, `sharing`, `alpha_256` and `follow_every_ns`."""
    log_bytes_per_round: int | None = None
    """Only for `afq`."""
    quantum_bytes: int | None = None
    """Only for `drr`."""
    fair_among: str | None = None
    """`flows` or `users`, for a discipline without a program; None: flows."""
    start_time_bytes: int | None = None
    """Bytes in a unit of rank, a power of two, if ranks are start times; None: 256."""
    charge_drops: bool | None = None
    """True if a flow pays for dropped packets, too, if ranks are start times; None: it does not."""
    hold_us: int | None = None
    """Only for `fdpa`: time after which a user may return to a more urgent band, in microseconds."""
    calendar: Mapping[str, Any] | None = None
    """Only for `calendar`."""
    tree: Sequence[Mapping[str, Any]] | None = None
    """Only for `tree`."""
    dual_pi2: Mapping[str, int] | None = None
    """Only for `dual_pi2`: `target_ns`, `rtt_max_ns`, `min_th_ns`, `range_ns`, `coupling` and `shift_ns`."""


@dataclass(frozen=True)
class Flow:
    """A flow from one host to another."""

    source: str | int
    """Host, by name or by number from 0."""
    destination: str | int
    bytes: int
    start_ns: int = 0
    rank: int | None = None
    user: int | None = None
    weight: float | None = None
    transport: str | None = None


@dataclass(frozen=True)
class Poisson:
    """Flows that start as a Poisson process, with the sizes of a data centre."""

    sizes: str | Sequence[tuple[float, float]]
    """`web_search`, `data_mining`, or points of a distribution: bytes, and the probability of at most that size."""
    load: float
    """Share of `link_bps` that the frames of all flows take together. Above 1, they are more than the links carry."""
    link_bps: int
    duration_ns: int
    """Time in which flows start."""
    scale: float | None = None
    sources: Sequence[str | int] | None = None
    destinations: Sequence[str | int] | None = None


Flows = Sequence[Flow] | Poisson | Array | Path
"""Flows: a list, a random process, an array with the fields of `LISTED`, or a CSV file with these columns."""
Transports = Mapping[str, Mapping[str, Any]]
NEW_RENO: Transports = {"tcp": {"control": "new_reno"}}
"""TCP NewReno with the timers of Linux: a lost segment can cost 200 ms, and a lost first one 1 s."""
DATA_CENTRE: Transports = {"tcp": {"control": "new_reno", "preset": "data_centre"}}
"""TCP NewReno with timers for round trips of microseconds, without handshake and without delayed acknowledgements."""


def udp(rate: str, jitter: str = "0us") -> Mapping[str, Any]:
    """A transport that sends datagrams at a rate, in bit/s of frames: `transports={"udp": udp("50mbit", "100us")}`.

    Each datagram leaves up to `jitter` later than at equal intervals. Without jitter, flows of the same rate keep their
    phase, and at a full queue one of them may lose nearly all its datagrams.
    """
    return {"control": {"udp": {"rate_bps": int(Rate.parse(rate)), "jitter_ns": delay_ns(jitter)}}}


def flow_list(start_ns: Array, source: Array, destination: Array, size: Array) -> Array:
    """Flows as one array, sorted by their start. Hosts are numbers from 0; `size` is in bytes.

    Raises P4schedError for arrays of different lengths, and for numbers that are not whole.
    """
    found = np.empty(len(start_ns), [(name, np.int64) for name in LISTED])
    for name, values in zip(LISTED, map(np.asarray, (start_ns, source, destination, size)), strict=True):
        if values.shape != found.shape:
            raise P4schedError(f"{name}: its shape is {values.shape}, that of start_ns {found.shape}")
        if not np.issubdtype(values.dtype, np.integer):
            raise P4schedError(f"{name}: it holds {values.dtype}, not whole numbers")
        found[name] = values
    return found[np.argsort(found["start_ns"], kind="stable")]


@dataclass(frozen=True)
class Scenario:
    """The description of a run (`switch/simulator/SCENARIOS.md`)."""

    topology: Topology | Mapping[str, Any]
    """One of the topologies above, or a mapping that describes a network."""
    ports: Ports
    flows: Flows
    end_ns: int
    """End of the run, in ns of virtual time."""
    transports: Transports = field(default_factory=lambda: NEW_RENO)
    """Transports by name: `control`, and settings that differ from those of its `preset`. Flows without a transport use
    the first."""
    hosts: Ports | None = None
    """The scheduler of the hosts' own ports; None: a FIFO without limit, whatever `ports` has."""
    ranks: str | Mapping[str, Sequence[float]] = "flow"
    """Source of ranks. `{"drawn": weights}`: drawn for each packet, rank i in proportion to weight i."""
    retransmissions: str | None = None
    """Rank of data that is sent again: `own`, `urgent` or `least`."""
    charge_answers: bool | None = None
    """True: packets of receivers have the user of their flow; None: they have no user."""
    seed: int = 1
    sample_ns: int | None = None
    """Interval at which the received bytes of each flow are recorded, in `summary["received_bytes"]`."""
    count_inversions: bool | None = None
    """True: all ports count packets that leave out of order, in `Result.ports`."""
    events: str | None = None
    """Order of simultaneous events: `planned` or `netbench`."""
    multipath: str | None = None
    overhead_bytes: int | None = None

    def with_(self, **changed: Any) -> "Scenario":
        """The same scenario with other values of these fields."""
        return replace(self, **changed)

    def to_json(self) -> dict[str, Any]:
        """The JSON form of the scenario. An array of flows becomes a list, which is slower than a separate file."""
        content = _set_fields(self)
        if isinstance(self.topology, Topology):
            content["topology"] = self.topology.to_json()
        for of in ("ports", "hosts"):
            if of in content:
                content[of] = _set_fields(content[of])
        content["transports"] = {name: dict(settings) for name, settings in self.transports.items()}
        content["flows"] = _flows_json(self.flows)
        return content


def _flows_json(flows: Flows) -> dict[str, Any]:
    match flows:
        case Poisson():
            return {"poisson": _set_fields(flows)}
        case Path():
            return {"file": str(flows)}
        case np.ndarray():
            rows = zip(*(flows[name].tolist() for name in LISTED), strict=True)
            return {"list": [dict(zip(LISTED, row, strict=True)) for row in rows]}
        case _:
            return {"list": [_set_fields(flow) for flow in flows]}


AnyScenario = Scenario | Mapping[str, Any] | str | Path


@dataclass(frozen=True)
class Result:
    """Result of a run."""

    flows: Array
    """A row for each flow, in the order of their starts. Fields: `flow`, `start_ns`, `source`, `destination`, `bytes`;
    `received_ns` (the receiver has all bytes) and `acknowledged_ns` (the sender has all acknowledgements), NaN if it is
    after the end, and for a sender of datagrams, which has none; `completion_s` (`received_ns` - `start_ns`) and
    `acknowledged_s`, in seconds; `restricted_s`: `completion_s`, or for a flow that did not end the time from its start
    to the end of the run; `received_bytes`, `sent_segments`, `retransmitted`, `timeouts`."""
    ports: Array
    """A row for each port. Fields: `node`, `port` (0: that of a host), `to`; `sent_packets`, `sent_bytes`,
    `dropped_full`, `dropped_refused`, `pushed_out`, `marked` in packets; the length of the queue over time in packets,
    `queue_mean`, `queue_median`, `queue_p99`, `queue_longest`, NaN at hosts, where it is not measured. With
    `count_inversions` also `inversions`, packets that left while one of a lower rank waited, and `overtakes`, packets
    that left while an earlier one of their flow waited."""
    summary: Mapping[str, Any]
    """Content of summary.json."""

    def port(self, node: str, port: int = 0) -> Any:
        """The row of one port. Raises P4schedError if there is none."""
        found = self.ports[(self.ports["node"] == node) & (self.ports["port"] == port)]
        if len(found) != 1:
            raise P4schedError(f"there is no port {port} of {node}")
        return found[0]

    def completed(self) -> Array:
        """The flows that the receiver got completely before the end.

        To compare schemes, use `restricted_s` of all flows: a scheme that ends only its quick flows has the shortest
        mean over the completed ones.
        """
        found: Array = self.flows[~np.isnan(self.flows["completion_s"])]
        return found

    def completed_share(self) -> float:
        """Share of the flows that are complete; NaN without flows."""
        return float((~np.isnan(self.flows["completion_s"])).mean()) if len(self.flows) else float("nan")


def run(
    scenario: AnyScenario,
    *,
    programs: bool = False,
    check: bool = False,
    output: Path | None = None,
) -> Result:
    """Runs a scenario to its end.

    `programs`: the compiled P4 programs, not the models, decide at the ports of switches, as they always do for a
    scheduler that has only a program. `check` compares each of
    their decisions with that of the model. `output`: folder that keeps `scenario.json`, `flows.csv` and `summary.json`.

    Raises P4schedError, with the message of the simulator, for a wrong scenario and for a difference between program
    and model; EndedError if a signal ended the simulator.
    """
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        return _run(scenario, programs, check, output)
    with tempfile.TemporaryDirectory(prefix="p4sched-simulate-") as folder:
        return _run(scenario, programs, check, Path(folder))


async def run_async(
    scenario: AnyScenario,
    output: Path,
    *,
    programs: bool = False,
    check: bool = False,
) -> Result:
    """Same as `run`, without blocking, so that several runs can work at the same time. Cancelling it ends the run."""
    output.mkdir(parents=True, exist_ok=True)
    scenario, names = _with_names(scenario)
    programs = programs or _only_program(names)
    words = _words(scenario, programs, check, output)
    with command(BINARY, names, models=True) as tool:
        process = await asyncio.create_subprocess_exec(
            *tool.words, *words, cwd=DATA_DIR, env=tool.variables, stderr=asyncio.subprocess.PIPE
        )
        try:
            _, error_output = await process.communicate()
        except asyncio.CancelledError:
            # a signal to the whole group may have ended it; kill() would then take its status away from asyncio
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)
            await process.wait()
            raise
    assert process.returncode is not None
    result = _outcome(process.returncode, error_output, output, tool)
    _warn_without_flows(scenario, result)
    return result


def _run(scenario: AnyScenario, programs: bool, check: bool, folder: Path) -> Result:
    scenario, names = _with_names(scenario)
    programs = programs or _only_program(names)
    words = _words(scenario, programs, check, folder)
    with command(BINARY, names, models=True) as tool:
        words = [*tool.words, *words]
        process = subprocess.run(words, cwd=DATA_DIR, env=tool.variables, stderr=subprocess.PIPE, check=False)
    result = _outcome(process.returncode, process.stderr, folder, tool)
    _warn_without_flows(scenario, result)
    return result


def _json(scenario: object) -> str:
    """The JSON text of a scenario, which may contain numpy's numbers. Raises P4schedError."""

    def plain(value: object) -> object:
        if isinstance(value, np.generic):
            return value.item()
        raise TypeError(f"{value!r} cannot be part of a scenario")

    try:
        return json.dumps(scenario, indent=1, default=plain)
    except (TypeError, ValueError) as error:
        raise P4schedError(f"the scenario cannot be written: {error}") from error
    except RecursionError as error:
        raise P4schedError("the scenario is too deeply nested") from error


def _words(scenario: AnyScenario, programs: bool, check: bool, folder: Path) -> list[str]:
    """Arguments of the command. It must start in the project's folder, where it finds the programs."""
    if not isinstance(scenario, Scenario | Mapping | str | Path):
        raise P4schedError(f"a scenario is a Scenario, a mapping or a file, not {scenario!r}")
    path = Path(scenario) if isinstance(scenario, str | Path) else folder / SCENARIO
    if not isinstance(scenario, str | Path):
        path.write_text(_json(_to_write(scenario, folder)) + "\n")
    # what an earlier run wrote is no result of this one
    (folder / SUMMARY).unlink(missing_ok=True)
    words = [str(path.absolute()), "--output", str(folder.absolute())]
    words += ["--parent", str(os.getpid())]
    return words + (["--with", "p4"] if programs else []) + (["--check"] if check else [])


def _with_names(scenario: AnyScenario) -> tuple[AnyScenario, list[str]]:
    """The scenario with names of schemes in place of the folders of schedulers, and these names: first that of the
    switches. A scenario in a file stays as it is."""
    match scenario:
        case Scenario(ports=switches, hosts=hosts):
            switches = replace(switches, scheme=named(switches.scheme))
            hosts = hosts and replace(hosts, scheme=named(hosts.scheme))
            return scenario.with_(ports=switches, hosts=hosts), [each.scheme for each in (switches, hosts) if each]
        case Mapping():
            listed = {key: ports for key in ("ports", "hosts") if isinstance(ports := scenario.get(key), Mapping)}
            changed = {
                key: {**told, "scheme": named(str(told["scheme"]))} for key, told in listed.items() if "scheme" in told
            }
            return {**scenario, **changed}, [told["scheme"] for told in changed.values()]
        case _:
            return scenario, []


def _only_program(names: Sequence[str]) -> bool:
    """True if the scheme of the switches has only a program."""
    return bool(names) and names[0] in SCHEMES and not SCHEMES[names[0]].has_model


def _outcome(code: int, error_output: bytes, folder: Path, tool: Command) -> Result:
    if code < 0:
        raise EndedError(f"{BINARY} was ended by {signal.Signals(-code).name}")
    if code > 0:
        raise P4schedError(_sentence(fault(BINARY, error_output.decode(errors="replace"), code), folder))
    for line in error_output.decode(errors="replace").splitlines():
        if line.startswith(WARNING):
            warnings.warn(line.removeprefix(WARNING), SimulationWarning, stacklevel=4)
        elif DONE.match(line) is None:
            tool.pass_on(f"{line}\n")
    if tool.ended and not (folder / SUMMARY).exists():
        raise P4schedError(tool.ended)
    return read(folder)


def _sentence(message: str, folder: Path) -> str:
    """The message of the simulator, without places in a generated file, and with the names of this module."""
    for option, name in NAMES.items():
        message = message.replace(option, name)
    message = FLOATING.sub(_number, message)
    ours = f"{folder.absolute() / SCENARIO}: "
    return re.sub(r" at line \d+ column \d+$", "", message.removeprefix(ours)) if message.startswith(ours) else message


def _number(found: re.Match[str]) -> str:
    """The reason why a number is no u64. Readers of JSON take a larger whole number as floating point."""
    return f"{found[1]} is above 2**64 - 1" if float(found[1]) >= 2**64 else found[0]


def _warn_without_flows(scenario: AnyScenario, result: Result) -> None:
    """Warns of a random process without a flow."""
    match scenario:
        case Scenario(flows=Poisson()) | {"flows": {"poisson": _}}:
            if result.summary["flows"]["listed"] == 0:
                reason = "flows.poisson: no flow starts; a longer duration_ns, a higher load or smaller sizes give some"
                warnings.warn(reason, SimulationWarning, stacklevel=4)


def _to_write(scenario: Scenario | Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
    """Content of scenario.json. Paths of flow files are relative to the current folder."""
    if isinstance(scenario, Scenario) and isinstance(scenario.flows, np.ndarray):
        flows = scenario.flows
        columns = [flows[name] for name in LISTED]
        head = ",".join(LISTED)
        np.savetxt(folder / FLOW_LIST, np.column_stack(columns), "%d", ",", header=head, comments="")
        return scenario.with_(flows=Path(FLOW_LIST)).to_json()
    content = dict(scenario.to_json() if isinstance(scenario, Scenario) else scenario)
    match content.get("flows"):
        case {"file": str(file)}:
            content["flows"] = {"file": str(Path(file).absolute())}
    return content


def read(folder: Path) -> Result:
    """Reads the result of `p4sched-simulate --output FOLDER`. Raises P4schedError if there is none."""
    try:
        summary = json.loads((folder / SUMMARY).read_text())
        flows = _flows(folder / FLOWS, summary["end_ns"])
        return Result(ports=_ports(summary["ports"]), flows=flows, summary=summary)
    except OSError as error:
        raise P4schedError(f"{folder}: its results cannot be read: {error}") from error
    except MALFORMED as error:
        reason = " ".join(str(error).split())
        raise P4schedError(f"{folder}: it holds no results of {BINARY}: {reason}") from error


_FLOW_TIMES = ("received_ns", "acknowledged_ns")


def _flows(path: Path, end_ns: int) -> Array:
    from pyarrow import csv, enable_signal_handlers, float64, int64, string  # noqa: PLC0415 - takes a quarter of a second

    # Ctrl-C is the program's, not that of a table
    enable_signal_handlers(False)
    types = dict.fromkeys(_FLOW_TIMES, float64()) | dict.fromkeys(("source", "destination"), string())
    numbers = ("flow", "start_ns", "bytes", "received_bytes", "sent_segments", "retransmitted", "timeouts")
    types |= dict.fromkeys(numbers, int64())
    table = csv.read_csv(path, convert_options=csv.ConvertOptions(column_types=types, strings_can_be_null=False))
    columns = {name: table[name].to_numpy(zero_copy_only=False) for name in table.column_names}
    for name in ("source", "destination"):
        columns[name] = columns[name].astype(np.str_)
    for name, end in zip(("completion_s", "acknowledged_s"), _FLOW_TIMES, strict=True):
        columns[name] = (columns[end] - columns["start_ns"]) / 1e9
    started = columns["start_ns"] < end_ns
    until_end = np.where(started, (end_ns - columns["start_ns"]) / 1e9, np.nan)
    columns["restricted_s"] = np.where(np.isnan(columns["completion_s"]), until_end, columns["completion_s"])
    return _rows(columns)


_QUEUE = ("mean", "median", "p99", "longest")
_ORDER = ("inversions", "overtakes")


def _ports(ports: Sequence[Mapping[str, Any]]) -> Array:
    columns: dict[str, Array] = {
        "node": np.array([port["node"] for port in ports], np.str_),
        "port": np.array([port["port"] or 0 for port in ports], np.int64),
        "to": np.array([port["to"] for port in ports], np.str_),
    }
    for name in ("sent_packets", "sent_bytes", "dropped_full", "dropped_refused", "pushed_out", "marked"):
        columns[name] = np.array([port[name] for port in ports], np.int64)
    if all(name in port for port in ports for name in _ORDER):
        columns |= {name: np.array([port[name] for port in ports], np.int64) for name in _ORDER}
    for name in _QUEUE:
        lengths = [np.nan if port["queue_packets"] is None else port["queue_packets"][name] for port in ports]
        columns[f"queue_{name}"] = np.array(lengths, np.float64)
    return _rows(columns)


def _rows(columns: Mapping[str, Array]) -> Array:
    count = len(next(iter(columns.values())))
    found = np.empty(count, [(name, values.dtype) for name, values in columns.items()])
    for name, values in columns.items():
        found[name] = values
    return found
