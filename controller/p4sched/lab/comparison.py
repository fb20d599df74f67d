"""Experiments that compare schemes, each with its best parameters: what they all declare."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from rich.table import Table

from p4sched.lab.experiment import Experiment, Results, RunOptions, SchemeOutcome, Seed, Stage
from p4sched.p4rt.target import Target
from p4sched.results.tables import record_rows
from p4sched.schemes import title
from p4sched.sweep.compared import add_certain, of_scheme, without_scheme
from p4sched.sweep.tuned import SCRATCH, Group, Measured, Seeds, Tuned
from p4sched.units import Duration

TUNING_SEEDS = 2
"""Seeds for the choice of parameters."""


class Setting(Protocol):
    """What the setting of each has."""

    @property
    def seeds(self) -> Seeds:
        """Seeds of the choice, and of the result."""

    @property
    def duration(self) -> Duration:
        """Time in which flows start."""


@dataclass(frozen=True)
class Grid:
    """Values of the parameters, for all combinations."""

    buffers: tuple[int, ...]
    """C of AIFO, B of RIFO, and all queues of the others together, in packets."""
    headrooms_256: tuple[int, ...]
    """k in 1/256."""

    def parameters(self, *, headroom: bool) -> Iterator[Group]:
        """All combinations. `headroom`: whether the scheme has one."""
        for buffer, headroom_256 in product(self.buffers, self.headrooms_256 if headroom else (0,)):
            yield {"buffer_packets": buffer, "headroom_256": headroom_256}


GridT = TypeVar("GridT")


@dataclass(frozen=True)
class GridSetting(Generic[GridT]):
    """Setting of a run: schemes at loads, each with all parameters of a grid."""

    schemes: Sequence[str]
    loads: Sequence[float]
    grid: GridT
    seeds: Seeds
    duration: Duration


SettingT = TypeVar("SettingT", bound=Setting)
Records = Callable[[Sequence[Measured], str], Iterable[Mapping[str, Any]]]
"""Records of a scheme, from the best of all schemes."""


def seeds_of(run_options: RunOptions, result: int) -> Seeds:
    """Its seeds, `result` of them for the result. Raises UsageError for an option that has no meaning."""
    run_options.refuse(["--switch"], "in virtual time: the models of the schemes are at the ports")
    return Seeds.of(run_options.seed, TUNING_SEEDS, result)


def configuration(setting: Setting) -> dict[str, Any]:
    """The part of the configuration that all have, for summary.json."""
    return {
        "tuning_seeds": list(setting.seeds.tuning),
        "seeds": list(setting.seeds.result),
        "duration_s": setting.duration.seconds,
        "time": "virtual",
        "switch": "none",
    }


def grid(found: Tuned, keys: Sequence[str], scheme: str) -> list[dict[str, Any]]:
    """The means of a scheme's candidates, for grid.csv."""
    return [without_scheme(each.means(keys)) for each in of_scheme(found.grid, scheme)]


def outcome(
    found: Tuned,
    schemes: Sequence[str],
    keys: Sequence[str],
    records: Records,
    label: Callable[[str], str] = title,
    name: str = "best",
) -> SchemeOutcome[None]:
    """What was found, for summary.json. `keys`: names of the figures; `name`: the key of the records."""
    return SchemeOutcome(
        {
            "schemes": {
                scheme: {
                    "label": label(scheme),
                    name: list(records(found.best, scheme)),
                    "grid": grid(found, keys, scheme),
                }
                for scheme in schemes
            }
        },
        None,
    )


def heading(results: Results[SettingT, None], text: str, words: Sequence[str], numbers: Sequence[str]) -> Table:
    """A table without rows: columns of words, then of numbers."""
    found = Table(
        title=f"{text}; {len(results.setting.seeds.result)} other seeds, 95 %; *: certain", title_justify="left"
    )
    for column in words:
        found.add_column(column)
    for column in numbers:
        found.add_column(column, justify="right")
    return found


def experiment(
    name: str,
    summary: str,
    quick: str,
    setting: Callable[..., SettingT],
    configuration: Callable[[SettingT], Mapping[str, Any]],
    measure: Callable[[SettingT, Stage], Any],
    table: Callable[[Results[SettingT, None]], Iterable[Table | str]],
    draw: Callable[[Mapping[str, Any], Path], None],
    csv: Sequence[str] = ("best", "grid"),
) -> Experiment[SettingT, None]:
    """The declaration. `draw`: draws the content of summary.json into a file; `csv`: keys of the records that become
    tables of numbers. All ratios in records get a column that says which are certain."""

    async def corrected(setting: SettingT, stage: Stage) -> SchemeOutcome[None]:
        measured: SchemeOutcome[None] = await measure(setting, stage)
        schemes = measured.summary["schemes"].values()
        for key in {key for scheme in schemes for key, found in scheme.items() if isinstance(found, list)}:
            add_certain([record for scheme in schemes for record in scheme.get(key, ())], len(setting.seeds.result))
        return measured

    return Experiment(
        name=name,
        summary=summary,
        setting=setting,
        configuration=configuration,
        measure=corrected,
        table=table,
        figure=lambda results, path: draw(results.summary, path),
        csv={f"{key}.csv": partial(_rows, key) for key in csv},
        files=(f"{SCRATCH}/*/*", f"{SCRATCH}/*/*/*"),
        seed=Seed("First of the seeds.", bounded=True),
        quick=quick,
        targets=(Target.V1MODEL,),
        in_lab=lambda _: False,
        simulated=True,
    )


def _rows(key: str, results: Results[Any, None]) -> Iterable[Sequence[object]]:
    return record_rows(results.schemes, key)
