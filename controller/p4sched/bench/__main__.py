"""`python -m p4sched.bench [PART...]`: measures parts, prints a table for each, and writes build/bench/PART.json."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from rich.console import Console

from p4sched.bench import engine, forwarding, p4runtime, tables
from p4sched.bench.part import Outcome
from p4sched.errors import P4schedError
from p4sched.paths import BUILD_DIR
from p4sched.results.whole_file import write_whole

PARTS: dict[str, Callable[[], Outcome]] = {
    "engine": engine.measure,
    "forwarding": forwarding.measure,
    "p4runtime": p4runtime.measure,
    "tables": tables.measure,
}


def main() -> int:
    """Measures the parts that the command line names, or all of them; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m p4sched.bench", description=__doc__)
    parser.add_argument("parts", metavar="PART", nargs="*", type=_part, help=", ".join(PARTS))
    parts = parser.parse_args().parts or list(PARTS)
    console = Console(highlight=False)
    try:
        _measure(parts, console)
    except (P4schedError, OSError) as error:
        console.print(f"bench: {error}", markup=False)
        return 1
    except KeyboardInterrupt:
        console.print("bench: interrupted; all processes and links are removed")
        return 130
    return 0


def _part(name: str) -> str:
    if name not in PARTS:
        raise argparse.ArgumentTypeError(f"no part {name!r}; use one of: {', '.join(PARTS)}")
    return name


def _measure(parts: Sequence[str], console: Console) -> None:
    folder = BUILD_DIR / "bench"
    for name in parts:
        outcome = PARTS[name]()
        console.print(outcome.table)
        for target in outcome.targets:
            sign, met = "<=" if target.at_most else ">=", "met" if target.met else "[bold red]not met[/]"
            console.print(f"  {target.name}: {target.value:.3g} ({sign} {target.goal:g}): {met}")
        targets = [
            {
                "name": target.name,
                "found": target.value,
                "wanted": target.goal,
                "at_most": target.at_most,
                "met": target.met,
            }
            for target in outcome.targets
        ]
        found = {"at": datetime.now(UTC).isoformat(), "figures": outcome.figures, "targets": targets}
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / f"{name}.json", json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
