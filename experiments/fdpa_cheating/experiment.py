"""A user of FDPA who cheats: what it gains, what the others lose, and what each defence costs honest users."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import typer
from rich.table import Table

from experiments.fdpa_cheating import figure, schemes, users
from experiments.fdpa_cheating.schemes import LABELS, Grid, Knobs
from experiments.fdpa_cheating.users import BEHAVIOURS, FIGURES, HONEST, UserRun
from p4sched.cli import options
from p4sched.cli.options import QuickDefault
from p4sched.lab import comparison
from p4sched.lab.experiment import Results, RunOptions, SchemeOutcome, Stage, choose
from p4sched.sweep.compared import RATIO, Ratio, against, named, of_scheme, shown, without_scheme
from p4sched.sweep.tuned import Candidate, Group, Measured, Seeds, ratio, repeat, tune
from p4sched.units import Duration

OBJECTIVE = "loss"
RATIOS = ("cheater", "others", "web_ms")
PRICES = ("jain", "throughput", "web_ms")
"""Figures with honest users that are compared with those of plain FDPA and of DRR."""
COMPARED = ("fdpa", "drr")


@dataclass(frozen=True)
class Setting:
    """Setting of a run."""

    schemes: Sequence[str]
    grid: Grid
    seeds: Seeds
    duration: Duration
    cheaters: int


def setting(
    run_options: RunOptions,
    compared: Annotated[str, options.schemes_option(LABELS), QuickDefault("fdpa,fdpa_current,drr")] = ",".join(LABELS),
    cheaters: Annotated[
        int, typer.Option(min=1, max=users.MOST_CHEATERS, help="Users who cheat in the same way; pulses take turns.")
    ] = 1,
    seeds: options.ResultSeeds = 8,
    duration: Annotated[
        Duration, options.time_option("Virtual time that is measured."), QuickDefault(Duration.parse("1s"))
    ] = Duration.parse("4s"),
) -> Setting:
    """20 users share a link of 500 Mbit/s, and some of them cheat. Prints two tables and writes DIR/summary.json,
    DIR/users.csv, DIR/grid.csv and DIR/figure.png."""
    options.at_least("--duration", duration, users.SAMPLE_NS / 1e9, "rates are sampled as often")
    return Setting(
        choose("scheme", compared, LABELS),
        schemes.QUICK if run_options.quick else schemes.FULL,
        comparison.seeds_of(run_options, seeds),
        duration,
        cheaters,
    )


def configuration(setting: Setting) -> dict[str, Any]:
    """Configuration for summary.json."""
    return {
        "users": users.USERS,
        "cheaters": setting.cheaters,
        "users_with_many_connections": users.MANY,
        "users_with_short_flows": users.WEB,
        "rate_bps": users.RATE_BPS,
        "rtt_ns": users.RTT_NS,
        "grid": vars(setting.grid),
        **comparison.configuration(setting),
    }


def _candidate(scheme: str, behaviour: str, knobs: Group, setting: Setting, cheaters: int) -> Candidate:
    group: Group = {"scheme": scheme, "behaviour": behaviour}
    return Candidate(group, knobs, partial(_run, group, knobs, int(setting.duration), cheaters))


def _run(group: Group, parameters: Group, duration_ns: int, cheaters: int, seed: int) -> UserRun:
    scheme, behaviour, knobs = str(group["scheme"]), str(group["behaviour"]), Knobs.of(parameters)
    ports = schemes.ports(scheme, knobs, behaviour, cheaters)
    return UserRun(ports, knobs.constant_bands(), knobs.clock(scheme), behaviour, duration_ns, seed, cheaters)


async def measure(setting: Setting, stage: Stage) -> SchemeOutcome[None]:
    """Chooses the parameters with honest users, then measures each behaviour with them."""
    candidates = [
        _candidate(scheme, HONEST, knobs.record(), setting, 1)
        for scheme in setting.schemes
        for knobs in schemes.settings(scheme, setting.grid)
    ]
    found = await tune(candidates, OBJECTIVE, setting.seeds, stage.folder, stage.tell)
    wanted = [
        _candidate(str(best.candidate.group["scheme"]), behaviour, best.candidate.parameters, setting, setting.cheaters)
        for best in found.best
        for behaviour in BEHAVIOURS
    ]
    measured = await repeat(wanted, setting.seeds.result, stage.folder, stage.tell)
    records = {
        scheme: {
            "label": LABELS[scheme],
            "users": list(_records(measured, scheme)),
            "grid": comparison.grid(found, FIGURES, scheme),
        }
        for scheme in setting.schemes
    }
    return SchemeOutcome({"schemes": records}, None)


def _records(measured: Sequence[Measured], scheme: str) -> Iterator[dict[str, Any]]:
    """Figures, their ratios to those with honest users, and to those of plain FDPA and DRR with the same
    behaviour."""
    for each in of_scheme(measured, scheme):
        record = without_scheme(each.record(FIGURES))
        for name in RATIOS:
            record |= named(name, _over_honest(each, measured, name))
        for other in COMPARED:
            for name in PRICES:
                record |= named(f"{name}_over_{other}", against(each, measured, {"scheme": other}, name))
        yield record


def _over_honest(each: Measured, measured: Sequence[Measured], name: str) -> Ratio:
    """The ratio to the same figure with honest users; None if a user got nothing with one of the seeds."""
    honest = next(one for one in of_scheme(measured, str(each.candidate.group["scheme"])) if _is_honest(one))
    if not all(figures[name] for one in (each, honest) for figures in one.seeds):
        return dict.fromkeys(RATIO)
    return ratio(each, honest, name)


def _is_honest(measured: Measured) -> bool:
    return measured.candidate.group["behaviour"] == HONEST


def table(results: Results[Setting, None]) -> list[Table]:
    """Prices with honest users, then a row for each scheme and behaviour."""
    prices = comparison.heading(
        results,
        "Honest users; parameters chosen with them",
        ("scheme", "setting"),
        ("Jain's index", "over FDPA", "throughput", "short flows, ms", "over FDPA"),
    )
    rows = comparison.heading(
        results,
        "Rates in fair shares",
        ("scheme", "the cheaters"),
        ("their rate", "over honest", "the others'", "over honest", "the slowest", "short flows, ms", "over honest"),
    )
    for scheme in results.schemes.values():
        for each in scheme["users"]:
            if each["behaviour"] == HONEST:
                prices.add_row(
                    scheme["label"],
                    ", ".join(f"{name} {each[name]}" for name in Knobs().record() if each[name] not in (0, "-")),
                    f"{each['jain']:.3f}",
                    shown(each, "jain_over_fdpa"),
                    f"{each['throughput']:.3f}",
                    f"{each['web_ms']:.0f}",
                    shown(each, "web_ms_over_fdpa"),
                )
            rows.add_row(
                scheme["label"],
                each["behaviour"],
                f"{each['cheater']:.2f}",
                shown(each, "cheater"),
                f"{each['others']:.2f}",
                shown(each, "others"),
                f"{each['worst']:.2f}",
                f"{each['web_ms']:.0f}",
                shown(each, "web_ms"),
            )
    return [prices, rows]


EXPERIMENT = comparison.experiment(
    "fdpa_cheating",
    "A user of FDPA who cheats with its rate: what it gains, what the others lose, and what each defence costs",
    "1 s measured, with one setting of each of three schemes",
    setting,
    configuration,
    measure,
    table,
    figure.draw,
    ("users", "grid"),
)
