"""The control laws: whatever the counters say, the decision is one that the programs accept.

The law's own functions run with `Number`s in place of counters, configuration and traffic. Each claim is about all of
them. A claim that the solver refutes is tried with its numbers by the law itself: only then it is false.

RIFO's law takes the best of some settings by its prediction, which has logarithms. Here any of them may be the best.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType, ModuleType
from typing import Any

import z3

from p4sched.control.bands import MAX_FURTHER_BANDS, Bands
from p4sched.control.law import AnyLaw
from p4sched.control.laws import aifo, fdpa, headroom, packs, ranked, rifo, traffic_estimate
from p4sched.control.laws.traffic_estimate import Traffic
from p4sched.control.parameters import MAX_PACKETS
from p4sched.errors import P4schedError, UsageError
from p4sched.p4rt.compile import compiled_program
from p4sched.p4rt.target import PROGRAMS, Target
from p4sched.p4rt.traffic_manager import QUEUES
from p4sched.proofs.exact import Int, every, negated
from p4sched.proofs.numbers import NAMES, Number, Paths
from p4sched.proofs.restrictions import holds, restriction
from p4sched.schemes import LAWS

MODULES = (aifo, fdpa, headroom, packs, ranked, rifo, traffic_estimate)
LARGEST_COUNT = 2**63 - 1
"""P4Runtime's counters end here."""
LONGEST_NS = 2**53
"""104 days: of clocks, and of the times in a configuration."""
FASTEST_BPS = 10**15
SMALLEST_LOSS = 1e-9
BELOW_1 = 1 - 2**-53
EDGE_SHARE = 1e-6
"""Fair shares of the narrowest band."""
LARGEST_SCALE = 2**16 - 1
TRAFFIC: Mapping[str, tuple[float, float]] = {
    "arrival_pps": (1e-9, 1e29),
    "packet_bytes": (1e-20, 1e20),
    "drain_bps": (1e-9, 1e29),
    "load": (1e-60, 1e60),
    "dispersion": (traffic_estimate.MIN_DISPERSION, 1e120),
}
"""Ranges of an estimate, from all counters and times."""


@dataclass(frozen=True)
class Found:
    """What was found about a claim. `proved`: None if it is open."""

    name: str
    proved: bool | None
    example: str = ""
    """Numbers for which the law itself breaks the claim, or why it is open."""


def any_of(_traffic: Any, settings: Sequence[tuple[Any, Any]]) -> tuple[Any, Any]:
    """Takes the place of `rifo._best`: any of the settings."""
    which = Paths.current.new(0, len(settings) - 1, whole=True)
    columns = []
    for column in zip(*settings, strict=True):
        numbers = [Number.of(value) for value in column]
        found = numbers[0].term
        for place, one in enumerate(numbers):
            found = z3.If(which.term == place, one.term, found)
        low, high = min(one.low for one in numbers), max(one.high for one in numbers)
        columns.append(Paths.current.named(Number(found, low, high, whole=True)))
    return columns[0], columns[1]


def any_size(longest: Number) -> list[Number]:
    """Takes the place of `rifo._sizes`: any size up to the longest one."""
    found = Paths.current.new(1, longest.high, whole=True)
    Paths.current.know(found.term <= longest.term)
    return [found]


def sizes_claim() -> Found:
    """`any_size` has all sizes that RIFO's law tries."""
    wrong = [
        longest
        for longest in range(1, MAX_PACKETS + 1)
        if not all(1 <= size <= longest for size in rifo._sizes(longest))
    ]
    return Found("rifo: sizes that it tries", not wrong, f"queue of {wrong[0]}" if wrong else "all queues")


@contextmanager
def with_numbers(modules: Sequence[ModuleType]) -> Iterator[None]:
    """The modules compute with `Number`s."""
    missing = object()
    new = [(module, name, value) for module in modules for name, value in NAMES.items()]
    new += [(rifo, "_best", any_of), (rifo, "_sizes", any_size)]
    before = [(module, name, vars(module).get(name, missing)) for module, name, _ in new]
    for module, name, value in new:
        setattr(module, name, value)
    try:
        yield
    finally:
        for module, name, value in before:
            if value is missing:
                delattr(module, name)
            else:
                setattr(module, name, value)


def settled(
    name: str,
    check: Callable[[Paths], Any],
    again: Callable[[Mapping[str, Any]], str],
    typical: Mapping[str, Any] = MappingProxyType({}),
) -> Found:
    """A claim, on all paths. `again`: what is wrong with a run with numbers; empty if it is right.

    `typical`: numbers of inputs that a counterexample has if it can.
    """
    paths = Paths()
    count = 0
    examples: list[tuple[Mapping[str, Any], str]] = []
    with with_numbers(MODULES):
        for statements, error in paths.explore(lambda: check(paths)):
            count += 1
            if error is None and statements is None:
                continue
            wrong = [] if error is not None else [negated(every(*(statement for _, statement in statements)))]
            try:
                values = paths.values(typical, *wrong)
            except P4schedError as gave_up:
                return Found(name, None, str(gave_up))
            if values is not None:
                examples.append((values, str(error or "the law keeps to it")))
    for values, reason in examples:
        said = again(values)
        if said or (values, reason) == examples[-1]:
            shown = ", ".join(
                f"{key} {value:{'g' if isinstance(value, float) else ''}}" for key, value in values.items()
            )
            return Found(name, False if said else None, f"{said or reason}: {shown}")
    return Found(name, True, f"{count} paths")


class Value:
    """A parameter in a restriction."""

    def __init__(self, number: Any) -> None:
        self._term = Number.of(number).real

    def equals(self, other: Value | Int) -> Any:
        return self._term == _term(other)

    def differs(self, other: Value | Int) -> Any:
        return self._term != _term(other)

    def __lt__(self, other: Value | Int) -> Any:
        return self._term < _term(other)

    def __le__(self, other: Value | Int) -> Any:
        return self._term <= _term(other)

    def __gt__(self, other: Value | Int) -> Any:
        return self._term > _term(other)

    def __ge__(self, other: Value | Int) -> Any:
        return self._term >= _term(other)


def _term(value: Value | Int) -> Any:
    return value._term if isinstance(value, Value) else z3.IntVal(value.low)


def accepted(p4info: str, action: str, data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The conditions of a program on the parameters of an action: their bits, and the restriction."""
    block = next(
        block
        for block in re.findall(r"^actions \{\n(.*?)^\}", p4info, re.MULTILINE | re.DOTALL)
        if f'    alias: "{action}"\n' in block
    )
    for name, bits in re.findall(r'^    name: "(\w+)"\n    bitwidth: (\d+)', block, re.MULTILINE):
        value = Number.of(data[name]).real
        yield f"{name} has {bits} bits", z3.And(value >= 0, value < 1 << int(bits))
    full = re.search(r'^    name: "(.*)"$', block, re.MULTILINE)
    text = restriction(p4info, full[1] if full else action)
    values: dict[str, Any] = {name: Value(value) for name, value in data.items()}
    yield text, holds(text, values)


RANKED: Mapping[str, Sequence[Target]] = {
    "aifo": tuple(Target),
    "rifo": (Target.V1MODEL, Target.TNA),
    "packs": (Target.V1MODEL, Target.T2NA),
}
OF_FDPA: Mapping[str, tuple[Any, Any]] = {
    "capacity_bps": (1, FASTEST_BPS),
    "interval_us": (1, 2**32 - 1),
    "rtt_ns": (1, LONGEST_NS),
    "burst_bytes": (0, fdpa.MAX_BURST_BYTES),
    "flowlet_gap_us": (0, 2**32 - 1),
}
OF_USERS: Mapping[str, tuple[Any, Any]] = {
    "first": (EDGE_SHARE, 1000.0),
    "size": (EDGE_SHARE, 1000.0),
    "weight": (1e-30, 1e30),
    "largest_scale": (1, LARGEST_SCALE),
}
"""Bands in fair shares; the sum of the weights of the active users, also of those of another controller's bands."""
TYPICAL: Mapping[str, Any] = {
    "rate_bps": 10**9,
    "delay_ns": 10**7,
    "queue_packets": 64,
    "span_ns": 0,
    "loss": 0.0625,
    "max_headroom": 0.5,
    **dict(zip(TRAFFIC, (125_000.0, 1000.0, 1e9, 1.0, 1.0), strict=True)),
}
PINNED: Mapping[str, tuple[Any, Any]] = {"k": (0.0, BELOW_1)}
ANY_COUNT = (1, LARGEST_COUNT)


def ranked_values(law: AnyLaw, paths: Paths, held: Sequence[str], target: Target) -> dict[str, Any]:
    """Fields of any configuration of a ranked scheme. `held`: the parameters that it pins."""
    values: dict[str, Any] = {
        "rate_bps": paths.variable("rate_bps", 1, FASTEST_BPS),
        "delay_ns": paths.variable("delay_ns", 1, LONGEST_NS),
        "queue_packets": paths.variable("queue_packets", 1, MAX_PACKETS),
        "span_ns": paths.variable("span_ns", 0, LONGEST_NS),
        "loss": paths.variable("loss", SMALLEST_LOSS, BELOW_1),
        "max_headroom": paths.variable("max_headroom", 0.0, BELOW_1),
        "fixed": {name: paths.variable(name, *PINNED.get(name, ANY_COUNT)) for name in held},
    }
    if law is not rifo.LAW:
        values["window_ranks"] = paths.variable("window_ranks", 1, PROGRAMS[target].largest_window)
    return values


def any_traffic(paths: Paths) -> Traffic:
    """Any estimate."""
    values: list[Any] = [paths.variable(name, *bounds) for name, bounds in TRAFFIC.items()]
    return Traffic(*values)


def ranked_claim(name: str, target: Target, held: Sequence[str], more: Mapping[str, Any]) -> Found:
    """The law's parameters for any traffic are parameters of the program."""
    law = LAWS[name]
    p4info = compiled_program(name, target=target).p4info.read_text(encoding="utf-8")
    legal = law.config(1_000_000, 10**9, 8, **more)

    def check(paths: Paths) -> Any:
        config: Any = object.__new__(law.config)
        for field in dataclasses.fields(law.config):
            object.__setattr__(config, field.name, getattr(legal, field.name))
        for field_name, value in ranked_values(law, paths, held, target).items():
            object.__setattr__(config, field_name, value)
        traffic = any_traffic(paths)
        try:
            config.__post_init__()
        except UsageError:
            return None
        return list(accepted(p4info, law.parameters.action, config.parameters_for(traffic).action_data()))

    def again(values: Mapping[str, Any]) -> str:
        of_config = {key: value for key, value in values.items() if key not in TRAFFIC and key not in held}
        try:
            config = law.config(**of_config, fixed={key: values[key] for key in held}, **more)
        except UsageError:
            return ""
        try:
            found = config.parameters_for(Traffic(*(values[key] for key in TRAFFIC)))
        except (ArithmeticError, ValueError, UsageError) as error:
            return f"it ends with {type(error).__name__}: {error}"
        return broken(accepted(p4info, law.parameters.action, found.action_data()))

    pinned = f", {', '.join(held)} pinned" if held else ""
    several = "".join(f", {key} = {value}" for key, value in more.items())
    return settled(f"{name} on {target}{several}{pinned}: parameters for any traffic", check, again, TYPICAL)


def broken(statements: Iterable[tuple[str, Any]]) -> str:
    """The first statement about numbers that is false; empty if all are true."""
    return next((text for text, holds in statements if holds is False or not z3.is_true(z3.simplify(holds))), "")


def fdpa_claim(target: Target, further: int, *, token_bucket: bool) -> Found:
    """The bands for any active users, and for any that another controller left, are bands of the program."""
    p4info = compiled_program("fdpa", target=target).p4info.read_text(encoding="utf-8")
    fixed = {"token_bucket": token_bucket, "activity_window_ns": 600_000_000, "active_bytes": 1000}

    def data(values: Mapping[str, Any], config: Any, bands: Any) -> list[tuple[str, Any]]:
        for name, value in (("first", values["first"]), ("further", further), ("size", values["size"])):
            object.__setattr__(bands, name, value)
        for name, value in {**{name: values[name] for name in OF_FDPA}, **fixed, "bands": bands}.items():
            object.__setattr__(config, name, value)
        found = fdpa.parameters_for(config, values["weight"], values["largest_scale"])
        return list(accepted(p4info, fdpa.Parameters.action, found.action_data()))

    def check(paths: Paths) -> Any:
        values = {name: paths.variable(name, *bounds) for name, bounds in {**OF_FDPA, **OF_USERS}.items()}
        return data(values, object.__new__(fdpa.Config), object.__new__(Bands))

    def again(values: Mapping[str, Any]) -> str:
        return broken(data(values, object.__new__(fdpa.Config), object.__new__(Bands)))

    kind = "token buckets" if token_bucket else "rates"
    return settled(f"fdpa on {target}, {further} further bands, {kind}: bands for any users", check, again)


def parameter_claims() -> Iterator[Found]:
    """What the laws set is legal, on each target that has a program."""
    yield sizes_claim()
    for name, targets in RANKED.items():
        for target in targets:
            for held in ((), LAWS[name].config.fixable):
                yield ranked_claim(name, target, held, {})
    for queues in range(1, QUEUES):
        yield ranked_claim("packs", Target.V1MODEL, (), {"queues": queues})
    for further in range(1, MAX_FURTHER_BANDS + 1):
        yield fdpa_claim(Target.V1MODEL, further, token_bucket=False)
    yield fdpa_claim(Target.V1MODEL, MAX_FURTHER_BANDS, token_bucket=True)
    yield fdpa_claim(Target.TNA, MAX_FURTHER_BANDS, token_bucket=False)
