"""The schedulers of the laboratory: a record for each folder of `schedulers/` that is part of it.

Every list of schemes is a filter over `SCHEMES`. `p4sched.folders.schemes` adds the schedulers of other folders.
"""

from p4sched.control.law import AnyLaw
from p4sched.errors import unknown_name
from p4sched.folders.scheme import laboratory_schemes
from p4sched.scheme import Scheme
from p4sched.traits import ComparisonKind

SCHEMES: dict[str, Scheme] = {scheme.name: scheme for scheme in laboratory_schemes()}
"""Schemes by name, in the order of tables and figures; then those of folders that a command has named."""
LAWS: dict[str, AnyLaw] = {name: scheme.law for name, scheme in SCHEMES.items() if scheme.law is not None}
FIFO, FDPA, AIFO, RIFO, PACKS = (SCHEMES[name] for name in ("fifo", "fdpa", "aifo", "rifo", "packs"))


def find_scheme(name: str) -> Scheme:
    """The scheme with this name. Raises UsageError for an unknown name."""
    if name not in SCHEMES:
        raise unknown_name("scheme", name, SCHEMES)
    return SCHEMES[name]


def schemes_of(comparison: ComparisonKind) -> tuple[str, ...]:
    """Names of the schemes that take part in a comparison."""
    return tuple(name for name, each in SCHEMES.items() if comparison in each.comparisons)


def title(name: str) -> str:
    """Title of a scheme as in papers: SP-PIFO for sp_pifo."""
    if name in SCHEMES:
        return SCHEMES[name].title
    scheme, *settings = name.split(":")
    if settings:
        # of a run on another machine, or in another process
        return ", ".join([title(scheme), *(setting.replace("=", " = ") for setting in settings)])
    return name.upper().replace("_", "-")
