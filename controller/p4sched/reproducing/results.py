"""The measured numbers of each figure, judged against the published ones."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from p4sched.reproducing.figure import Figure, Line, Quantity
from p4sched.reproducing.judge import BLOCKS, Blocks, Values, Verdict, block_key, judge
from p4sched.reproducing.published import Numbers, Place, Published
from p4sched.reproducing.runs import Job
from p4sched.reproducing.store import Measured, Store
from p4sched.results import intervals
from p4sched.versions import CHANGES, changed_since


@dataclass(frozen=True)
class Estimate:
    """A mean over the seeds."""

    mean: float
    half_width: float | None
    """Half of its interval of 95 %; None for one seed."""
    seeds: int

    @classmethod
    def of(cls, values: Sequence[float]) -> "Estimate":
        """The mean of these values, and its interval."""
        interval = intervals.over_seeds(values)
        return cls(fmean(values), (interval[1] - interval[0]) / 2 if interval else None, len(values))

    def __str__(self) -> str:
        width = "" if self.half_width is None else f" ± {number(self.half_width, 2)}"
        return f"{number(self.mean)}{width}"


def number(value: float, digits: int = 3) -> str:
    """The value with so many significant digits, without an exponent."""
    return f"{value:,.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"


@dataclass(frozen=True)
class Ratios:
    """Ratios at some places: their median, the lowest and the highest."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, ratios: Sequence[float]) -> "Ratios | None":
        """Of these ratios; None if there are none."""
        return cls(median(ratios), min(ratios), max(ratios)) if ratios else None

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f} to {self.high:.2f})"


@dataclass(frozen=True)
class Row:
    """One quantity of a figure: published, measured, and the verdict."""

    figure: Figure
    quantity: Quantity
    published: Numbers
    measured: Values
    verdict: Verdict
    fixed: frozenset[Place] = frozenset()
    """Lines and places whose run is the same for each seed."""

    @property
    def key(self) -> tuple[str, str]:
        """Figure and quantity."""
        return self.figure.name, self.quantity.key

    @property
    def has_published(self) -> bool:
        """True if the paper has numbers of this quantity."""
        return bool(self.published.values or self.published.ranges or self.published.orders)

    def estimate(self, line: str, place: str) -> Estimate | None:
        """The measured mean; None if there is none."""
        seeds = self.measured.get((line, place))
        if seeds and (line, place) in self.fixed:
            return Estimate(next(iter(seeds.values())), None, 1)
        return Estimate.of(list(seeds.values())) if seeds else None

    def is_empty(self, line: str) -> bool:
        """True if a line has neither published nor measured numbers."""
        return not any(
            (line, place) in values for values in (self.published.values, self.measured) for place in self.figure.places
        )

    @property
    def variations(self) -> Iterator[tuple[Line, Ratios]]:
        """The lines that vary a compared line, and their ratios to it: at each place, that of the means over the seeds
        that both have."""
        compared = {line.of: line.name for line in self.figure.lines if line.published and line.of}
        for line in self.figure.lines:
            if line.published or line.of not in compared:
                continue
            ratios = []
            for place in self.figure.places:
                ours, theirs = (self.measured.get((name, place), {}) for name in (line.name, compared[line.of]))
                if seeds := ours.keys() & theirs.keys():
                    ratios.append(fmean(ours[seed] for seed in seeds) / fmean(theirs[seed] for seed in seeds))
            if found := Ratios.of(ratios):
                yield line, found


@dataclass(frozen=True)
class Judged:
    """A figure with its rows."""

    figure: Figure
    rows: Sequence[Row]
    stored: int
    """Stored simulations."""
    wanted: int
    """Simulations for all lines, places and seeds, and those of further seeds that are stored. A run that is the same
    for each seed counts once."""
    seeds: Sequence[int]
    """Seeds of the stored simulations; none if the runs are the same for each seed."""
    older: int
    """Stored simulations of older code than that of the repository."""
    seed_s: float
    """Seconds of one processor for one seed of the lines and places that are stored."""

    @property
    def shown(self) -> Sequence[Row]:
        """The rows with published numbers; if there are none, all that are not beside them."""
        return [row for row in self.rows if row.has_published] or [row for row in self.rows if not row.quantity.beside]

    @property
    def beside(self) -> Sequence[Row]:
        """The rows that only the page has."""
        return [row for row in self.rows if row.quantity.beside]


def repeated(rows: Sequence[Row]) -> set[tuple[str, str]]:
    """Figure and quantity of the rows that repeat earlier ones: those have most of the published values, of the same
    quantity and place, digit for digit."""
    known: set[tuple[str, str, float]] = set()
    found = set()
    for row in rows:
        values = [(row.quantity.key, place, value) for (_, place), value in row.published.values.items()]
        if 2 * sum(value in known for value in values) > len(values):
            found.add(row.key)
        known.update(values)
    return found


def collect(figure: Figure, published: Published, store: Store, seeds: Sequence[int], duration_ns: int) -> Judged:
    """The stored simulations of a figure, with the verdicts. Further seeds that are stored count too."""
    found: dict[tuple[str, str, int], Measured] = {}
    asked = set(seeds)
    known = sorted(asked | store.seeds)
    # one seed alone would not show which runs are the same for each
    seeds_and_one = [*known, known[-1] + 1]
    fixed: set[Place] = set()
    wanted: set[str] = set()
    for line in figure.lines:
        for place in figure.places:
            inputs = {seed: figure.run(line.name, place, seed, duration_ns).inputs for seed in seeds_and_one}
            if len(set(inputs.values())) == 1:
                fixed.add((line.name, place))
            wanted |= {inputs[seed] for seed in asked}
            for seed in known:
                if measured := store.of_inputs(inputs[seed]):
                    found[line.name, place, seed] = measured
                    wanted.add(inputs[seed])
    rows = []
    names = {line.of: line.name for line in figure.lines if line.published and line.of}
    for quantity in figure.quantities:
        numbers = published.get((figure.name, quantity.key), Numbers()).renamed(names)
        values = _values(found, quantity.key)
        labels = {line.name: line.label for line in figure.lines}
        verdict = judge(numbers, values, _blocks(found, quantity.key), labels, fixed)
        rows.append(Row(figure, quantity, numbers, values, verdict, frozenset(fixed)))
    stored = {measured.inputs: measured for measured in found.values()}
    older = {commit for commit in {each.commit for each in stored.values()} if is_older(commit, figure.sources)}
    took_s: dict[Place, list[float]] = {}
    for (name, place, _), measured in found.items():
        took_s.setdefault((name, place), []).append(measured.took_s)
    return Judged(
        figure,
        rows,
        stored=len(stored),
        wanted=len(wanted),
        seeds=sorted({seed for line, place, seed in found if (line, place) not in fixed}),
        older=sum(each.commit in older for each in stored.values()),
        seed_s=sum(median(each) for each in took_s.values()),
    )


def _values(found: Mapping[tuple[str, str, int], Measured], key: str) -> dict[Place, dict[int, float]]:
    values: dict[Place, dict[int, float]] = {}
    for (line, place, seed), measured in found.items():
        if (value := measured.metrics.get(key.replace("*", place))) is not None:
            values.setdefault((line, place), {})[seed] = value
    return values


def _blocks(found: Mapping[tuple[str, str, int], Measured], key: str) -> Blocks:
    values: dict[Place, dict[tuple[int, int], float]] = {}
    for (line, place, seed), measured in found.items():
        for block in range(BLOCKS):
            if (value := measured.metrics.get(block_key(key.replace("*", place), block))) is not None:
                values.setdefault((line, place), {})[seed, block] = value
    return values


def of_older_code(all_jobs: Sequence[Job], store: Store) -> list[Job]:
    """The jobs whose stored numbers are of older code than that of the repository."""
    stored = [(job, found) for job in all_jobs if (found := store.of_inputs(job.inputs))]
    origins = {(found.commit, job.figure.name): job.figure.sources for job, found in stored}
    older = {origin for origin, sources in origins.items() if is_older(origin[0], sources)}
    return [job for job, found in stored if (found.commit, job.figure.name) in older]


def is_older(commit: str, sources: Sequence[str]) -> bool:
    """True unless a commit has the present code, without changes."""
    return commit.endswith(CHANGES) or changed_since(commit, sources) is not False
