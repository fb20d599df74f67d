"""Describes schedulers of folders to the Rust programs, which find the file by an environment variable."""

import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from p4sched.folders.description import LARGEST, Description, Port
from p4sched.p4rt.target import PROGRAMS
from p4sched.paths import rust_binary
from p4sched.schemes import SCHEMES
from p4sched.traits import ComparisonKind

VARIABLE = "P4SCHED_SCHEDULERS"
"""Environment variable with the path of the file."""
HOST = "p4sched.folders.host"
USER_FIELD = "meta.user"
"""Field of every program of the lab with the user of a packet (p4/shared/metadata.p4)."""


def entry(description: Description) -> dict[str, Any]:
    """The form of a description that the Rust programs read."""
    programs = description.programs
    return {
        "name": description.name,
        "programs": {target.value: str(file) for target, file in (programs.files if programs else {}).items()},
        "includes": {
            target.value: [str(folder) for folder in PROGRAMS[target].includes]
            for target in (programs.files if programs else ())
        },
        "table": programs.table if programs else "",
        "action": programs.action if programs else "",
        "discipline": description.port.discipline.value,
        "rank_field": description.port.rank,
        "port": _port(description.port, among_users=ComparisonKind.USERS in description.comparisons),
        "drops": description.port.drops == "program",
        "drops_on_chip": description.port.drops_on_chip == "program",
        "parameters": [
            {
                "name": each.name,
                "of_port": each.of_port,
                # a model of the laboratory checks its parameters: its window may be larger than a program's
                "min": 0 if description.like else each.minimum,
                "max": LARGEST if description.like else each.maximum,
                "default": each.default,
                "alike": each.alike and each.alike.tree,
                "tried": each.tried,
            }
            for each in description.parameters
        ],
        **({"like": description.like} if description.like else {}),
        "model": description.model and [str(description.model.file), description.model.name],
        "queue_sizes": [formula.tree for formula in description.port.queue_sizes],
    }


def _port(port: Port, *, among_users: bool) -> dict[str, Any]:
    """Settings of the port, besides the sizes of its queues. What is not set is left out.

    `among_users`: the scheme takes part in comparisons of users. A simulated switch then has them in its tables, even
    if only the program asks for them.
    """
    return {
        "user_field": port.share_among or (USER_FIELD if among_users else None),
        "quantum_bytes": port.quantum_bytes,
        "numbers": {name: formula.tree for name, formula in {**port.calendar, **port.scrr}.items()},
        "place": port.place and port.place.value,
        "tree": [asdict(node) for node in port.tree.nodes] if port.tree else [],
        "leaf_field": (port.tree and port.tree.leaf_field) or None,
        "level_rank_fields": list(port.tree.rank_fields) if port.tree else [],
    }


@dataclass(frozen=True)
class Command:
    """A program of p4sched-tools that knows the schedulers of folders."""

    words: tuple[str, ...]
    """The command without its arguments."""
    variables: Mapping[str, str]
    """Its environment."""
    in_python: tuple[str, ...] = ()
    """Schemes whose models run in its process."""

    def pass_on(self, errors: str) -> None:
        """Prints on standard error what the models have printed there. Other programs print only errors."""
        if self.in_python:
            sys.stderr.write(errors)

    @property
    def ended(self) -> str:
        """Reason why there is no result, although the process ended with code 0."""
        return f"the model of {' or '.join(self.in_python)} ended its process" if self.in_python else ""


def fault(program: str, error_output: str, status: int) -> str:
    """The sentence of a program that failed: the last line with its name. An excerpt of a P4 program may follow it."""
    lines = [line for line in error_output.splitlines() if line.strip()]
    own = [line for line in lines if line.startswith((f"{program}: ", "error: "))]
    sentence = (own or lines or [f"{program} ended with status {status}"])[-1]
    return sentence.removeprefix(f"{program}: ").removeprefix("error: ")


@contextmanager
def command(program: str, names: Iterable[str], *, models: bool) -> Iterator[Command]:
    """A program of p4sched-tools, such as `p4sched-simulate`, for these schemes.

    `models`: True if models may decide. Models in Python then run in its process.
    """
    schemes = [SCHEMES[name] for name in dict.fromkeys(names) if name in SCHEMES and not SCHEMES[name].in_laboratory]
    folders = [scheme.description for scheme in schemes]
    if not folders:
        yield Command((str(rust_binary(program)),), os.environ)
        return
    in_python = tuple(description.name for description in folders if description.model) if models else ()
    with tempfile.TemporaryDirectory(prefix="p4sched-schedulers-") as folder:
        file = Path(folder) / "schedulers.json"
        file.write_text(json.dumps({"schedulers": list(map(entry, folders))}))
        words = (sys.executable, "-m", HOST, program) if in_python else (str(rust_binary(program)),)
        yield Command(words, {**os.environ, VARIABLE: str(file)}, in_python)
