"""The targets of programs, and the differences between them for compiling and running a program.

In the P4Info of a Tofino program, names of tables and externs may begin with `pipe.`. So this project always uses the
alias of tables, actions and counters. The alias is the shortest unique suffix of the name, and is equal on all targets.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from p4sched.constants import RECIRCULATION_PORT_T2NA, RECIRCULATION_PORT_TNA, RECIRCULATION_PORT_V1MODEL
from p4sched.paths import P4_BUILD, P4_DIR, TOFINO_BUILD, TOFINO_DIR


class Target(StrEnum):
    """Architecture of a program."""

    V1MODEL = "v1model"
    """Software switches: the embedded switch and BMv2."""
    TNA = "tna"
    """Tofino 1. The embedded switch also runs these programs."""
    T2NA = "t2na"
    """Tofino 2. The embedded switch also runs these programs."""


@dataclass(frozen=True)
class Programs:
    """The programs of a target."""

    folder: Path
    """Folder of the programs, NAME.p4."""
    includes: tuple[Path, ...]
    """Folders for `#include`."""
    build: Path
    """Folder of the compiled programs."""
    compiler_options: tuple[str, ...]
    title: str
    """Title for a table or a figure."""
    recirculation_port: int
    """Port whose packets return to ingress."""
    largest_window: int
    """Ranks that the window of AIFO and PACKS can hold."""
    bridge_bytes: int = 0
    """Size of the header that ingress puts in front of a frame for egress (tofino-port/include/target.p4). Byte
    counters of egress include it."""
    length_reports: bool = False
    """True if each departure reports the length of its queue to ingress: a mirror session sends the report to the
    recirculation port (tofino-port/include/length_report.p4)."""


PROGRAMS: Mapping[Target, Programs] = {
    Target.V1MODEL: Programs(P4_DIR, (P4_DIR,), P4_BUILD, (), "v1model", RECIRCULATION_PORT_V1MODEL, 32),
    Target.TNA: Programs(
        TOFINO_DIR,
        (TOFINO_DIR, P4_DIR),
        TOFINO_BUILD / "tna",
        ("--target", "tofino", "--arch", "tna"),
        "Tofino 1 (TNA)",
        RECIRCULATION_PORT_TNA,
        16,
        bridge_bytes=3,
        length_reports=True,
    ),
    Target.T2NA: Programs(
        TOFINO_DIR / "t2na",
        (TOFINO_DIR, P4_DIR),
        TOFINO_BUILD / "t2na",
        ("--target", "tofino2", "--arch", "t2na"),
        "Tofino 2 (T2NA)",
        RECIRCULATION_PORT_T2NA,
        16,
        bridge_bytes=3,
    ),
}


def target_of(architecture: str) -> Target:
    """The target for the architecture in a P4Info; v1model if it is unknown."""
    return next((target for target in Target if target == architecture), Target.V1MODEL)
