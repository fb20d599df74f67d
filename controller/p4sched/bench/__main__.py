"""`python -m p4sched.bench [PART...]`: measures parts, prints a table for each, and writes build/bench/PART.json."""

import argparse
import json
from collections.abc import Callable
from datetime import UTC, datetime

from rich.console import Console

from p4sched.bench import engine, forwarding, p4runtime, tables
from p4sched.bench.part import Outcome
from p4sched.paths import ROOT
from p4sched.results.whole_file import write_whole

PARTS: dict[str, Callable[[], Outcome]] = {
    "engine": engine.measure,
    "forwarding": forwarding.measure,
    "p4runtime": p4runtime.measure,
    "tables": tables.measure,
}


def main() -> None:
    """Measures what the command line names, or everything."""
    parser = argparse.ArgumentParser(prog="python -m p4sched.bench", description=__doc__)
    parser.add_argument("parts", metavar="PART", nargs="*", choices=[*PARTS, []], help=", ".join(PARTS))
    console = Console(highlight=False)
    folder = ROOT / "build" / "bench"
    for name in parser.parse_args().parts or PARTS:
        outcome = PARTS[name]()
        console.print(outcome.table)
        for target in outcome.targets:
            sign, met = "<=" if target.at_most else ">=", "met" if target.met else "[bold red]not met[/]"
            console.print(f"  {target.name}: {target.found:.3g} ({sign} {target.wanted:g}): {met}")
        targets = [{**vars(target), "met": target.met} for target in outcome.targets]
        found = {"at": datetime.now(UTC).isoformat(), "figures": outcome.figures, "targets": targets}
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / f"{name}.json", json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
