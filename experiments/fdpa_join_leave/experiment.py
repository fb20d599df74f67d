"""FDPA's controller follows the users: 4, then 8, then 4 of them, without disturbing what flows."""

import asyncio
import csv
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from experiments.fdpa_join_leave import figure, summary
from experiments.fdpa_join_leave.measure import USERS, Result, Setting, measure
from p4sched.cli import options
from p4sched.control.bands import Bands
from p4sched.lab import machine
from p4sched.lab.experiment import Declared, SwitchKind
from p4sched.lab.run import clean_run, result_folder
from p4sched.lab.schemes import Link
from p4sched.lab.traffic import IPERF3
from p4sched.p4rt.traffic_manager import BMV2_LIMITS
from p4sched.results import summaries
from p4sched.results.tables import print_table
from p4sched.units import Duration, Rate
from p4sched.versions import versions

DEFAULT: dict[str, Any] = tomllib.loads((Path(__file__).parent / "config.toml").read_text())
RATE, BMV2_RATE = Rate.parse(DEFAULT["rate"]), Rate.parse(DEFAULT["bmv2_rate"])
CONGESTION_CONTROL = "cubic"
RTTS_PER_INTERVAL = 6
SHORTEST_PHASE_S = 4
"""A phase's first and last second are left out of its Jain index."""
QUICK_PHASE = Duration.parse("5s")


def run(
    ctx: typer.Context,
    rate: Annotated[Rate | None, options.rate_option(RATE, BMV2_RATE)] = None,
    rtt: options.RoundTripTime = DEFAULT["rtt"],
    bands: Annotated[
        Bands, typer.Option(parser=Bands.parse, metavar="BANDS", help="Bands in fair shares: FIRST+COUNT*SIZE.")
    ] = DEFAULT["bands"],
    interval: Annotated[
        Duration | None,
        typer.Option(parser=Duration.parse, metavar="TIME", help="Estimator interval; default: 6 RTTs."),
    ] = None,
    phase: Annotated[
        Duration, typer.Option(parser=Duration.parse, metavar="TIME", help="Length of each of the three phases.")
    ] = DEFAULT["phase"],
    quick: Annotated[bool, options.quick_option(f"--phase {QUICK_PHASE}")] = False,
    switch: options.WhichSwitch = SwitchKind.EMBEDDED,
    out: options.ResultFolder = Path("results/fdpa_join_leave"),
) -> None:
    """Runs 4, 8 and again 4 TCP users, then prints a table and writes DIR/summary.json, DIR/samples.csv and
    DIR/figure.png."""
    phase = options.unless_quick(ctx, quick, "--phase", phase, QUICK_PHASE)
    rate = options.rate_for(rate, switch, RATE, BMV2_RATE)
    setting = Setting(
        link=Link(rate, rtt),
        bands=bands,
        interval_us=(interval or RTTS_PER_INTERVAL * rtt) // 1000,
        phase_s=options.whole_seconds("--phase", phase, SHORTEST_PHASE_S),
        switch=switch.value,
        congestion_control=CONGESTION_CONTROL,
    )
    setting.law_config()
    result_folder(out)
    console = Console()
    with (
        clean_run("p4sched run fdpa_join_leave", results=out, programs=[IPERF3]) as ledger,
        console.status("") as status,
    ):

        def tell(text: str, second: float) -> None:
            status.update(f"{text}  {second:.1f} s" if second else text)

        result = asyncio.run(measure(setting, ledger, out, tell))
    found = {
        "experiment": "fdpa_join_leave",
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "configuration": configuration(setting),
        **summary.summarise(result),
        "machine": machine.description(),
        "versions": versions(),
    }
    summaries.write(out, found)
    write_samples(result, out / "samples.csv")
    figure.draw(result, setting, out / "figure.png")
    _print(console, found, out, setting)


def configuration(setting: Setting) -> dict[str, Any]:
    """The part of summary.json that says what was asked for."""
    return {
        "users": [4, USERS, 4],
        "rate_bps": int(setting.link.rate_bps),
        "rtt_ms": setting.link.rtt_ns / 1e6,
        "bands": str(setting.bands),
        "interval_ms": setting.interval_us / 1e3,
        "phase_s": setting.phase_s,
        "switch": setting.switch,
        "congestion_control": setting.congestion_control,
    }


def write_samples(result: Result, path: Path) -> None:
    """One row a sample: its end and every user's rate."""
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["second", *(f"user_{user}_bps" for user in range(1, USERS + 1))])
        zero = result.samples[0].start
        for sample in result.samples:
            rows.writerow([f"{sample.end - zero:.3f}", *(round(rate) for rate in sample.rates)])


def _print(console: Console, found: dict[str, Any], out: Path, setting: Setting) -> None:
    follow, probe = found["edges_follow_s"], found["probe"]
    table = Table("what", "measured", show_header=False)
    for what, seconds in (("four users join", follow["join"]), ("four users leave", follow["leave"])):
        table.add_row(f"edges follow when {what}", "never" if seconds is None else f"{seconds:.2f} s")
    if found["forgotten_too_soon"]:
        table.add_row("[bold red]users forgotten while they were there[/]", f"{found['forgotten_too_soon']} times")
    indices = ", ".join(f"{name}: {'-' if x is None else f'{x:.3f}'}" for name, x in found["jain_index"].items())
    table.add_row("Jain's index", indices)
    near, many = probe["near_changes"], probe["many_changes"]
    table.add_row("probe lost, whole run", f"{probe['lost']} of {probe['sent']}")
    table.add_row(f"probe lost within {near['seconds_around']} s of {near['changes']} changes", str(near["lost"]))
    table.add_row(
        f"{many['changes']} changes in {many['seconds']:.1f} s, nothing else flowing",
        f"{many['lost']} lost, longest gap {many['largest_gap_ms']:.1f} ms",
    )
    doubts = found["fidelity"]["doubts"]
    table.add_row("believable?", "[bold red]INVALID[/]: " + "; ".join(doubts) if doubts else "valid")
    print_table(console, table)
    if setting.switch == SwitchKind.BMV2:
        console.print(f"[yellow]What this cannot show:[/] {'; '.join([BMV2_LIMITS, *found['notes']])}")
    console.print(f"figure: {out / 'figure.png'}   all numbers: {out / 'summary.json'}")


EXPERIMENT = Declared(
    "fdpa_join_leave",
    "FDPA's band edges follow joining and leaving users within a second; no change loses a packet",
    run,
)
