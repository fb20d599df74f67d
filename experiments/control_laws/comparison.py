"""The tuned scheme against every static setting, in stepped time, on the same packets."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from experiments.control_laws.phases import PHASES
from experiments.control_laws.score import Deadlines, Ideal, PhaseScore
from experiments.control_laws.search import Scores, search
from experiments.control_laws.settings import URGENT_SHARE, Grid, Setting, config, static_settings
from experiments.control_laws.stepped_port import POLL_NS, Port
from p4sched.control.laws.ranked import Parameters

CLOSE = 0.9
"""Share of the best static setting that counts as close: within 10 %."""


@dataclass(frozen=True)
class Comparison:
    """Comparison of one scheme."""

    law_scores: list[PhaseScore]
    writes: list[tuple[float, Parameters]]
    """Seconds and parameters of each write of the law."""
    settings: list[Setting]
    scores: list[list[PhaseScore]]
    """Scores of each setting, by phase."""

    @property
    def best(self) -> list[float]:
        """The best static setting's score in each phase."""
        return [max(scores[phase].score for scores in self.scores) for phase in range(len(PHASES))]

    def ratios(self, scores: Sequence[PhaseScore]) -> list[float]:
        """Scores divided by those of the best static setting."""
        return [mine.score / best if best else 1.0 for mine, best in zip(scores, self.best, strict=True)]

    @property
    def steadiest(self) -> int:
        """The setting with the best worst phase."""
        return max(range(len(self.settings)), key=lambda each: min(self.ratios(self.scores[each])))

    @property
    def best_in(self) -> list[int]:
        """The best setting of each phase."""
        every = range(len(self.settings))
        return [max(every, key=lambda each: self.scores[each][phase].score) for phase in range(len(PHASES))]

    def summary(self) -> dict[str, Any]:
        """Part of summary.json."""
        steadiest = self.ratios(self.scores[self.steadiest])
        return {
            "tuned": {
                "phases": [asdict(score) for score in self.law_scores],
                "share_of_best": self.ratios(self.law_scores),
                "writes": [{"second": second, **parameters.action_data()} for second, parameters in self.writes],
            },
            "best_static": [
                {"setting": self.settings[each].label, "score": best}
                for each, best in zip(self.best_in, self.best, strict=True)
            ],
            "within_10_percent": min(self.ratios(self.law_scores)) >= CLOSE,
            "steadiest_static": {
                "setting": self.settings[self.steadiest].label,
                "share_of_best": steadiest,
                "within_10_percent": min(steadiest) >= CLOSE,
            },
            "static": [
                {"setting": setting.label, "origin": setting.origin, "phases": [asdict(score) for score in scores]}
                for setting, scores in zip(self.settings, self.scores, strict=True)
            ],
        }


def deadlines(scheme: str, deadline_ns: int) -> Deadlines:
    """Deadlines for this scheme."""
    return Deadlines(deadline_ns, round(URGENT_SHARE[scheme] * deadline_ns))


def compare(
    scheme: str,
    port: Port,
    ideal: Ideal,
    grid: Grid,
    deadline_ns: int,
    out: Path,
    tell: Callable[[str], None],
    seed: int,
) -> Comparison:
    """Runs the law, then static settings: the first settings, and those that a search finds from them."""
    out.mkdir(parents=True, exist_ok=True)
    tell("with the law in the loop")
    log = out / "decisions.jsonl"
    departures, decisions = port.with_law(config(scheme, port.rate_bps, deadline_ns), out / "tuned.txt", log)
    phase_polls = port.end_ns // len(PHASES) // POLL_NS
    came_to = [decisions[number * phase_polls - 1].parameters for number in range(1, len(PHASES) + 1)]
    in_time = deadlines(scheme, deadline_ns)
    settings: list[Setting] = []
    scores: list[list[PhaseScore]] = []

    def run(setting: Setting) -> list[PhaseScore]:
        with NamedTemporaryFile(dir=out, prefix="static_") as output:
            return ideal.scores(port.static(scheme, setting.data, Path(output.name)), in_time)

    def evaluate(more: Sequence[Setting]) -> list[Scores]:
        tell(f"{len(settings) + len(more)} static settings")
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = list(pool.map(run, more))
        settings.extend(more)
        scores.extend(found)
        return [tuple(score.score for score in each) for each in found]

    first = static_settings(scheme, grid, came_to)
    search(first, evaluate(first), evaluate, grid.rounds, seed)
    tuned = ideal.scores(departures, in_time)
    (out / "tuned.txt").unlink()
    written = [(number * POLL_NS / 1e9, each.parameters) for number, each in enumerate(decisions) if each.changed]
    return Comparison(tuned, written, settings, scores)


def lengths_over_time(comparison: Comparison) -> list[tuple[float, int]]:
    """Seconds and C or B of each write."""
    return [(second, parameters.packets) for second, parameters in comparison.writes]
