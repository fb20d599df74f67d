"""Checks the folder of a scheduler: compiles it, compares program and model packet by packet, places it in the chip."""

import json
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from p4sched import simulate
from p4sched.checks import described
from p4sched.checks.playing import MOST_URGENT, UNIT_SCALE, Decision, Played, play
from p4sched.checks.step import Step
from p4sched.comparing.workloads import COMMON
from p4sched.control.bands import MAX_FURTHER_BANDS, Bands
from p4sched.control.laws import fdpa
from p4sched.control.laws.traffic_estimate import Traffic
from p4sched.control.parameters import Parameters
from p4sched.errors import P4schedError
from p4sched.folders import description as descriptions
from p4sched.folders import models
from p4sched.folders.description import Description
from p4sched.folders.native import command
from p4sched.folders.native import fault as sentence_of
from p4sched.labs.decisions import PROGRAM, Trial, request
from p4sched.labs.trace import Packet, at_once, bursts
from p4sched.model import Model
from p4sched.p4rt.compile import compiled_program, print_stages
from p4sched.p4rt.target import Target
from p4sched.proto.enums import Discipline
from p4sched.scheme import Scheme

TRIALS = 24
PACKETS = 400
USERS = 8
"""Users, which are flows, too."""
USERS_TABLE = "users_by_prefix"
"""Table of a program that knows users. Packets for a program without it have none."""
SCALES = (64, 128, 256, 512)
"""256 / weight of a user: weights of 4, 2, 1 and 1/2."""
SLOWEST_S = 20.0
"""Time limit of the model over all trials."""
SHOWN_LINES = 24
LAW_DECISIONS = 200
TCP_SECONDS = 60


def steps(scheme: Scheme, seed: int = 1, *, tcp: bool = False) -> Iterator[Step]:
    """The steps of the check. After a failure, those that depend on it are left out. `tcp`: with a minute of TCP."""
    description = scheme.description
    yield Step(f"{description.file.name}: {description.title}, {_count(description.parameters, 'parameter')}")
    compiles = True
    for target, file in (description.programs.files if description.programs else {}).items():
        step = _compiled(target, file)
        compiles &= step.passed
        yield step
    try:
        kinds = _models(description)
    except P4schedError as error:
        yield Step("model", False, [str(error)])
        return
    if not compiles:
        return
    # the parameters of the laboratory's schemes are those of a class
    drawn = [] if scheme.in_laboratory else [trial.parameters for trial in trials(description, seed)]
    if drawn and (fault := described.fault(scheme, drawn)) is not None:
        yield fault
        return
    alike = True
    for target, kind in kinds:
        step = _compared(scheme, kind, seed, target)
        alike &= step.passed
        yield step
    if alike and not scheme.in_laboratory:
        yield _comparable(scheme, dict(kinds).get(Target.V1MODEL), seed)
    if scheme.law is not None and not scheme.in_laboratory:
        yield _shared_law(scheme, seed) if description.shared_law else _law(scheme, seed)
    if tcp:
        yield _tcp(scheme, seed)
    if description.programs is not None:
        for target in _chips(description):
            yield _placed(target, description.programs.files[target])


def _models(description: Description) -> list[tuple[Target, type[Model]]]:
    """The classes of the model, with the targets of the programs that have their rules."""
    model = description.model
    if model is None:
        return []
    with foreign_code(SLOWEST_S, f"{model.file}: it took longer than {SLOWEST_S:g} s to load"):
        found = [(Target.V1MODEL, models.load(model))]
        if model.on_chip is not None:
            on_chip = models.load(replace(model, name=model.on_chip))
            found += [(target, on_chip) for target in _chips(description)]
    return found


def missing(description: Description) -> list[str]:
    """Parts that the folder does not have."""
    chips = _chips(description)
    model = description.model
    lacks = {
        "a program for v1model": description.programs is None,
        "a model": model is None,
        "a program for a Tofino": not chips,
        "a model of that program": bool(chips) and model is not None and model.on_chip is None,
        "a control law": description.law is None and description.shared_law is None,
        "the paper": not description.paper,
        "a README.md": not (description.folder / "README.md").is_file(),
    }
    return [what for what, absent in lacks.items() if absent]


def _chips(description: Description) -> list[Target]:
    """The targets of its programs, without v1model."""
    programs = description.programs.files if description.programs else {}
    return [target for target in programs if target is not Target.V1MODEL]


def _count(things: Sequence[object], word: str) -> str:
    return f"{len(things)} {word}{'' if len(things) == 1 else 's'}"


def _compiled(target: Target, file: Path) -> Step:
    step = Step(f"{file.name} compiles for {target}")
    try:
        compiled_program(file, target=target)
    except P4schedError as error:
        step.passed, step.lines = False, str(error).splitlines()
    return step


def _placed(target: Target, file: Path) -> Step:
    step = Step(f"{file.name} fits {target}")
    step.passed = print_stages(file, target) == 0
    return step


def trials(description: Description, seed: int) -> list[Trial]:
    """Random parameters, and random packets for each: bursts, pauses, ranks of several ranges, users with weights."""
    source = random.Random(seed)
    users = range(USERS if _has_users(description) else 1)
    made = []
    for number in range(TRIALS):
        drawn = [
            each.default if number == 0 else source.randint(max(each.minimum, each.tried[0]), each.tried[1])
            for each in description.parameters
        ]
        ranks = range((4, 20, 100, 1000, 2**20, 2**32)[number % 6])
        own = seed * TRIALS + number
        packets = at_once(PACKETS // 4, own, ranks) if number % 8 == 7 else bursts(PACKETS, own, ranks)
        scales = tuple(source.choice(SCALES) for _ in users[1:])
        made.append(Trial(tuple(drawn), _varied(packets, source, users), scales=scales))
    return made


def _has_users(description: Description) -> bool:
    """True if the program knows users, or if there is none."""
    if description.programs is None:
        return True
    schema = compiled_program(description.programs.files[Target.V1MODEL]).schema()
    return schema.tables.get(USERS_TABLE) is not None


def _varied(packets: Sequence[Packet], source: random.Random, users: Sequence[int]) -> list[Packet]:
    sizes = (64, 500, 1000, 1514)
    return [each._replace(frame_bytes=source.choice(sizes), user=source.choice(users)) for each in packets]


def _compared(scheme: Scheme, kind: type[Model], seed: int, target: Target = Target.V1MODEL) -> Step:
    description = scheme.description
    made = trials(description, seed)
    packets = sum(len(trial.packets) for trial in made)
    has_program = description.programs is not None
    which = "program and model" if target is Target.V1MODEL else f"program and model for {target}"
    step = Step(f"{which} decide alike on {packets} packets" if has_program else f"model: {packets} packets")
    try:
        answers = _by_program(scheme, made, target) if has_program else []
        started = time.monotonic()
        played = _played(kind, description, made)
        took = time.monotonic() - started
        for trial, model in zip(made, played, strict=True):
            if unsized := _without_size(scheme, trial.parameters, model.decisions):
                step.passed, step.lines = False, unsized
                return step
        for trial, model, program in zip(made, played, answers, strict=False):
            difference = _difference(description, trial, model, program, target)
            if difference:
                step.passed, step.lines = False, difference
                return step
    except P4schedError as error:
        step.passed, step.lines = False, str(error).splitlines()
        return step
    decisions = packets + sum(len(each.departures) for each in played)
    step.lines = [f"the model makes {decisions / max(took, 1e-9):,.0f} decisions a second"]
    return step


def _comparable(scheme: Scheme, kind: type[Model] | None, seed: int) -> Step:
    """Whether the queues in use hold the common number of packets with the parameters of a comparison."""
    step = Step(f"in a comparison it holds {COMMON.buffer} packets")
    try:
        layout = scheme.for_comparison(COMMON).layout
        sizes = layout.queue_sizes
        if scheme.discipline is Discipline.STRICT:
            used = _used_queues(scheme, kind, layout, seed)
            if max(used, default=0) >= len(sizes):
                place = descriptions.place(scheme.description.file, "port", "queue_sizes")
                raise P4schedError(
                    f"{place}: port.queue_sizes: it has a size for {_count(sizes, 'queue')}, but packets enter queue"
                    f" {max(used)}"
                )
            held = sum(size for queue, size in enumerate(sizes) if queue in used)
            where = f"queue{'s' if len(used) > 1 else ''} {', '.join(map(str, sorted(used)))}"
        else:
            held, where = sum(sizes), "its buffer"
    except P4schedError as error:
        step.passed, step.lines = False, str(error).splitlines()
        return step
    if held != COMMON.buffer:
        file = scheme.description.file
        step.title, step.warns = "in a comparison it holds another number of packets than the others", True
        step.lines = [
            f"{descriptions.place(file, 'port', 'queue_sizes')}: port.queue_sizes: the packets enter {where}, with room"
            f" for {held} packets; `buffer` is {COMMON.buffer}. See `alike` in docs/SCHEDULERS.md"
        ]
    return step


def _without_size(scheme: Scheme, parameters: Sequence[int], decisions: Sequence[Decision]) -> list[str]:
    """The first packet that enters a queue without a size, in words; empty if there is none."""
    if scheme.discipline is not Discipline.STRICT:
        return []
    description, kind = scheme.description, scheme.layout
    values = dict(zip([each.name for each in description.parameters], parameters, strict=True))
    queues = len(kind(**values).queue_sizes)
    for number, decision in enumerate(decisions, 1):
        if isinstance(decision, int) and (queue := MOST_URGENT - decision) >= queues:
            where = f"{descriptions.place(description.file, 'port', 'queue_sizes')}: port.queue_sizes"
            named = ", ".join(f"{name} = {value}" for name, value in values.items())
            return [
                f"{where}: it has a size for {_count(range(queues), 'queue')}, but packet {number} enters queue {queue}"
                f"{f' with {named}' if named else ''}"
            ]
    return []


def _used_queues(scheme: Scheme, kind: type[Model] | None, layout: Any, seed: int) -> set[int]:
    """The queues that packets of several ranges of ranks enter."""
    values = layout.all_values()
    made = [replace(trial, parameters=tuple(values.values())) for trial in trials(scheme.description, seed)]
    if kind is not None:
        decisions = [each.decisions for each in _played(kind, scheme.description, made)]
    else:
        decisions = [each["program"] for each in _by_program(scheme, made, Target.V1MODEL)]
    return {MOST_URGENT - each for decided in decisions for each in decided if isinstance(each, int)}


def _played(kind: type[Model], description: Description, made: Sequence[Trial]) -> list[Played]:
    """Decisions of the model in each trial."""
    names = [each.name for each in description.parameters]
    packets = sum(len(trial.packets) for trial in made)
    with foreign_code(SLOWEST_S, f"the model took longer than {SLOWEST_S:g} s for {packets} packets"):
        return [
            play(kind, description, dict(zip(names, trial.parameters, strict=True)), trial.packets, trial.scales)
            for trial in made
        ]


def _law(scheme: Scheme, seed: int) -> Step:
    """Decisions of the law for random traffic. Each is made twice, with the same result."""
    law = scheme.law
    assert law is not None
    source, step = (
        random.Random(seed),
        Step(f"law: {LAW_DECISIONS} decisions, each within the ranges of the parameters"),
    )
    try:
        with foreign_code(SLOWEST_S, f"the law took longer than {SLOWEST_S:g} s for {LAW_DECISIONS} decisions"):
            for _ in range(LAW_DECISIONS):
                rate = 10 ** source.uniform(6, 10)
                queue = source.randint(4, 1000)
                config = law.config.for_port(round(rate), round(queue * 12e12 / rate), queue)
                load, size = source.uniform(0.1, 3), source.uniform(64, 1514)
                drain = rate * source.uniform(0.5, 1)
                traffic = Traffic(load * drain / 8 / size, size, drain, load, 10 ** source.uniform(-1, 2))
                if config.parameters_for(traffic) != config.parameters_for(traffic):
                    step.passed, step.lines = False, [f"two decisions for the same traffic differ: {traffic}"]
                    break
    except P4schedError as error:
        step.passed, step.lines = False, str(error).splitlines()
    return step


def _shared_law(scheme: Scheme, seed: int) -> Step:
    """Bands of FDPA's law for random links and users."""
    law, layout = scheme.law, scheme.layout
    assert law is not None
    assert issubclass(layout, Parameters)
    source, step = random.Random(seed), Step(f"FDPA's law: {LAW_DECISIONS} decisions, each within those ranges")
    try:
        for _ in range(LAW_DECISIONS):
            rate, rtt_ns = round(10 ** source.uniform(6, 10)), round(10 ** source.uniform(6, 8))
            bands = Bands(source.uniform(0.5, 2), source.randint(1, MAX_FURTHER_BANDS), source.uniform(0.1, 2))
            config = law.config(rate, bands, 6 * rtt_ns // 1000, rtt_ns)
            found = fdpa.parameters_for(config, float(source.randint(1, 200)))
            layout.from_action_data(found.action_data())
    except P4schedError as error:
        step.passed, step.lines = False, str(error).splitlines()
    return step


def _tcp(scheme: Scheme, seed: int) -> Step:
    """A minute of TCP in virtual time: three long flows, and short ones, over one link. Ranks are remaining bytes.
    Program and model decide on every packet."""
    both = scheme.description.programs is not None and scheme.description.model is not None
    scenario = simulate.Scenario(
        topology=simulate.Dumbbell(4, simulate.Link.of("100mbit", "1ms"), simulate.Link.of("10mbit", "5ms")),
        ports=simulate.Ports(scheme.name),
        flows=[
            *(simulate.Flow(f"u{number}", "server", 10**9) for number in (1, 2, 3)),
            *(simulate.Flow("u4", "server", 20_000, start_ns=s * 10**9) for s in range(TCP_SECONDS)),
        ],
        ranks="remaining",
        end_ns=TCP_SECONDS * 10**9,
        seed=seed,
    )
    step = Step(f"{TCP_SECONDS} s of TCP in virtual time{', program and model alike on every packet' if both else ''}")
    try:
        result = simulate.run(scenario, programs=scheme.description.programs is not None, check=both)
    except P4schedError as error:
        step.passed, step.lines = False, _difference_of_tcp(scheme.description, str(error))
        return step
    short = result.flows["completion_s"][result.flows["bytes"] == 20_000]
    port = result.port("s1", 5)
    done = int((~np.isnan(short)).sum())
    step.lines = [
        f"{int(port['sent_packets'])} packets sent, {int(port['dropped_full'] + port['dropped_refused'])} dropped",
        f"{done} of {len(short)} short flows done{f', on average in {np.nanmean(short) * 1e3:.0f} ms' if done else ''}",
    ]
    return step


def _by_program(scheme: Scheme, made: Sequence[Trial], target: Target) -> list[dict[str, Any]]:
    """Answers of `p4sched-decisions`: the decisions of the program."""
    programs = scheme.description.programs
    assert programs is not None
    program = programs.files[target]
    lines = "".join(
        json.dumps(request(program, scheme.name, trial, target=target, model=False)) + "\n" for trial in made
    )
    with command(PROGRAM, [scheme.name], models=False) as tool:
        result = subprocess.run(
            tool.words, input=lines, capture_output=True, text=True, env=tool.variables, check=False
        )
    if result.returncode != 0:
        raise P4schedError(f"the program cannot run: {sentence_of(PROGRAM, result.stderr, result.returncode)}")
    answers: list[dict[str, Any]] = [json.loads(line) for line in result.stdout.splitlines()]
    wrong = next((answer["error"] for answer in answers if "error" in answer), None)
    if wrong is not None:
        raise P4schedError(str(wrong))
    return answers


def _difference(
    description: Description, trial: Trial, model: Played, program: Mapping[str, Any], target: Target
) -> list[str]:
    """The first packet with two decisions, or the first departure of another packet, in words; empty if there is
    none."""
    pairs = enumerate(zip(model.decisions, program["program"], strict=True))
    number = next((number for number, (ours, theirs) in pairs if ours != theirs), None)
    if number is None:
        return _another_order(description, trial, model, program)
    lengths = model.lengths[number]
    strict = description.port.discipline is Discipline.STRICT
    return [
        f"Packet {number + 1} of {len(trial.packets)} is the first one with two decisions.",
        *_case(description, trial, number),
        f"  queues      {' '.join(map(str, lengths))} packets wait in queues 0 to {MOST_URGENT} of the model",
        f"  model       {_in_words(model.decisions[number], strict)}",
        f"  program     {_in_words(program['program'][number], strict)}",
        "",
        *_rule(description, target),
    ]


def _difference_of_tcp(description: Description, message: str) -> list[str]:
    """The difference in the form of `_difference`; another message as it is."""
    found = _TCP_DIFFERENCE.search(message)
    if found is None:
        return message.splitlines()
    strict = description.port.discipline is Discipline.STRICT
    lengths = found["lengths"].split(", ")[::-1]
    ends = " to ".join(".".join(found[each].split(", ")) for each in ("source", "destination"))
    return [
        f"A packet at port {found['port']} of switch {found['switch']} is the first one with two decisions.",
        f"  packet      rank {found['rank']}, {found['bytes']} bytes, from {ends}, at {found['ns']} ns",
        f"  queues      {' '.join(lengths)} packets wait in queues 0 to {MOST_URGENT} of the program",
        f"  model       {_in_words(_tcp_decision(found['model']), strict)}",
        f"  program     {_in_words(_tcp_decision(found['program']), strict)}",
        "",
        *_rule(description, Target.V1MODEL),
    ]


_TCP_DIFFERENCE = re.compile(
    r"at (?P<ns>\d+) ns, switch (?P<switch>\S+), port (?P<port>\d+): the model says (?P<model>.+?), the program"
    r" (?P<program>.+?) to Datagram \{.*? source: \[(?P<source>[\d, ]+)\], destination: \[(?P<destination>[\d, ]+)\],"
    r".*? rank: (?P<rank>\d+), len: (?P<bytes>\d+) \}.*?lengths: \[(?P<lengths>[\d, ]+)\]"
)
"""Message of `p4sched-simulate --check`; the lengths are those before the packet, by priority."""


def _tcp_decision(text: str) -> Decision | None:
    """A decision in a message of `p4sched-simulate`."""
    if priority := re.search(r"priority: (\d+)", text):
        return int(priority[1])
    words = {"Refused": "refused", "Full": "full", "PushedOut": "pushed out"}
    return next((word for name, word in words.items() if name in text), None)


def _case(description: Description, trial: Trial, number: int) -> list[str]:
    """A packet, the parameters, and the packets before it."""
    packet = trial.packets[number]
    scale = trial.scales[packet.user - 1] if packet.user else UNIT_SCALE
    user = f", user {packet.user} of weight {UNIT_SCALE / scale:g}" if trial.scales else ""
    named = ", ".join(
        f"{each.name} = {value}" for each, value in zip(description.parameters, trial.parameters, strict=True)
    )
    before = [str(each.rank) for each in trial.packets[max(0, number - 8) : number]]
    return [
        f"  packet      rank {packet.rank}, {packet.frame_bytes} bytes{user}, at {packet.at_ns} ns; the link: 1 B/ns",
        *([f"  parameters  {named}"] if named else []),
        f"  before it   ranks {', '.join(before) or 'none'}",
    ]


def _another_order(description: Description, trial: Trial, model: Played, program: Mapping[str, Any]) -> list[str]:
    """The first packet that leaves in another order, in words; empty if there is none."""
    ours, theirs = ([packet for packet, _ in each] for each in (model.departures, program["departures"]))
    place = next((place for place, (one, other) in enumerate(zip(ours, theirs, strict=False)) if one != other), None)
    if place is None:
        return []
    number = ours[place]
    return [
        f"Departure {place + 1} of {len(ours)} is the first one with two packets.",
        *_case(description, trial, number),
        f"  model       packet {number + 1} leaves: the one above",
        f"  program     packet {theirs[place] + 1} leaves",
    ]


def _in_words(decision: Decision | None, strict: bool) -> str:
    match decision:
        case int(priority) if strict:
            return f"the packet enters queue {MOST_URGENT - priority} (priority {priority})"
        case int():
            return "the packet is admitted; the port files it"
        case "refused":
            return "the packet is refused: verdict REFUSED"
        case "full":
            return "the packet is dropped because its queue is full: verdict FULL"
        case "pushed out":
            return "the packet enters the queue, and another one is pushed out"
        case _:
            return "the counters of the program do not show exactly one decision"


def _rule(description: Description, target: Target) -> list[str]:
    """The lines of the program's rule: its last `apply` block, shortened."""
    assert description.programs is not None
    file = description.programs.files[target]
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    first = max((number for number, line in enumerate(lines) if re.match(r"\s*apply\b", line)), default=0)
    shown = [
        (number, line) for number, line in enumerate(lines[first : first + SHOWN_LINES], first + 1) if line.strip()
    ]
    return [f"{file.name}:", *(f"{number:4} | {line}" for number, line in shown)]


AGAIN_S = 0.2
"""Time between the exceptions of code that takes too long. It may catch one, and Python ignores one in a finalizer."""


@contextmanager
def foreign_code(seconds: float, message: str) -> Iterator[None]:
    """A block that runs code of a folder. What it prints is on standard error.

    Raises P4schedError if it takes longer; in another thread than the main one there is no limit.
    """

    def over(_number: int, _frame: FrameType | None) -> None:
        raise P4schedError(message)

    handler: Callable[[int, FrameType | None], Any] | int | None
    try:
        handler = signal.signal(signal.SIGALRM, over)
    except ValueError:
        with redirect_stdout(sys.stderr):
            yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_S)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
