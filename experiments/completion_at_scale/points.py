"""Stored figures of each run: DIR/points/KEY.json, so that an interrupted run continues.

KEY is the hash of all inputs of a run, so a changed run is repeated.
"""

import json
from hashlib import sha256
from pathlib import Path

from experiments.completion_at_scale import over_seeds
from experiments.completion_at_scale.network import Run
from experiments.completion_at_scale.over_seeds import FIGURES, Figures
from p4sched.folders.schemes import digest
from p4sched.paths import rust_binary
from p4sched.results import completion
from p4sched.results.whole_file import write_whole
from p4sched.simulate import BINARY

POINTS = "points"


class Points:
    """The finished runs of a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / POINTS
        self._folder.mkdir(parents=True, exist_ok=True)
        sources = (rust_binary(BINARY), Path(over_seeds.__file__), Path(completion.__file__))
        self._sources = sha256(b"".join(sha256(path.read_bytes()).digest() for path in sources)).hexdigest()

    def key(self, run: Run) -> str:
        """Hash of all inputs of a run: equal keys give equal numbers."""
        inputs = [self._sources, run.scenario(), run.flows()]
        if scheduler := digest(run.line.name):
            inputs.append(scheduler)
        record = json.dumps(inputs, sort_keys=True)
        return sha256(record.encode()).hexdigest()[:32]

    def load(self, key: str) -> Figures | None:
        """Stored figures of a run; None if there are none, or if the file is damaged."""
        try:
            figures = json.loads((self._folder / f"{key}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return figures if isinstance(figures, dict) and FIGURES.keys() <= figures.keys() else None

    def keep(self, key: str, figures: Figures) -> None:
        """Writes the figures of a run atomically."""
        write_whole(self._folder / f"{key}.json", json.dumps(figures) + "\n")
