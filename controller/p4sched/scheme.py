"""A scheduler with all that is said of it: its record."""

from dataclasses import dataclass, replace
from pathlib import Path

from p4sched.control.law import AnyLaw
from p4sched.control.loop import LoopOf
from p4sched.control.parameters import Comparison, Layout, Parameters
from p4sched.folders.description import Description
from p4sched.p4rt.target import Target
from p4sched.p4rt.traffic_manager import BEYOND_BMV2, QUEUES
from p4sched.proto.enums import Discipline
from p4sched.traits import ComparisonKind, Limit, Ranks

SOFTWARE = (Target.V1MODEL,)
"""The target of software switches."""


@dataclass(frozen=True)
class Scheme:
    name: str
    """Name, as on the command line and in file names."""
    discipline: Discipline
    """Discipline of the port."""
    layout: type[Layout]
    """Queues of the port and their sizes; for a scheme without a law, also the parameters of the program."""
    colour: str
    """Colour in figures: a name of `p4sched.results.palette.PALETTE`."""
    description: Description
    """The description that the record comes from."""
    comparisons: tuple[ComparisonKind, ...] = (ComparisonKind.RANKS,)
    not_on_bmv2: str | None = None
    """Reason why BMv2 cannot run the scheme; None if it can."""
    targets: tuple[Target, ...] = SOFTWARE
    """Targets with a program."""
    law: AnyLaw | None = None
    """Control law; None: there is no law."""
    loop: LoopOf | None = None
    """Control loop, which reads the counters for the law."""
    options: tuple[str, ...] = ()
    """The scheme's own options of `p4sched control`."""
    fair: bool = False
    """True if the discipline itself shares the link fairly, so that it needs the user or flow of a packet."""
    rank_field: str | None = None
    """Field with the rank, for a sorted queue."""
    limits: tuple[Limit, ...] = ()
    ranks: Ranks | None = None
    queue_word: str = "queue"
    """Word for a queue in the paper."""
    worker_packets: bool = False
    """True if a recirculating packet can carry the queue lengths to the program (p4/include/worker.p4)."""

    @property
    def title(self) -> str:
        """Title as in papers."""
        return self.description.title

    @property
    def program(self) -> str:
        """Name of PROGRAM.p4: the scheme's own, or FIFO's in front of an ideal discipline."""
        return self.description.program_name

    @property
    def in_laboratory(self) -> bool:
        """True for a scheduler of the laboratory, whose model the Rust programs know."""
        return self.description.laboratory is not None

    @property
    def folder(self) -> Path:
        """Folder of its description."""
        return self.description.folder.resolve()

    @property
    def has_model(self) -> bool:
        """True if there is a model. A scheduler in a folder of its own may have only a program."""
        return self.in_laboratory or bool(self.description.like) or self.description.model is not None

    def source(self, target: Target) -> str | Path:
        """The program for a target: its file, or its name among the laboratory's programs."""
        if self.in_laboratory or self.description.programs is None:
            # its folder depends on the environment
            return self.program
        return self.description.programs.files[target]

    def not_on(self, target: Target) -> str | None:
        """Reason why there is no program for this target; None if there is one."""
        if target in self.targets:
            return None
        if self.description.like:
            return f"a scheme of the laboratory with set parameters has a program for {SOFTWARE[0]} only"
        if not self.in_laboratory:
            return f"{self.description.file} names no program for {target}"
        if self.discipline in BEYOND_BMV2:
            return f"an ideal of the project's own traffic manager, which no Tofino has: there is none for {target}"
        return f"there is no {self.program}.p4 for {target}, only for {' and '.join(self.targets)}"

    @property
    def parameters(self) -> type[Parameters]:
        """Parameters that a controller sets."""
        if self.law is not None:
            return self.law.parameters
        assert issubclass(self.layout, Parameters)
        return self.layout

    def default_setup(self) -> "Setup":
        """Setup with the sizes and parameters of the paper or the program."""
        return Setup(self, self.layout())

    def for_comparison(self, comparison: Comparison) -> "Setup":
        """Setup for a comparison."""
        return Setup(self, self.layout.for_comparison(comparison))


@dataclass(frozen=True)
class Setup:
    """A scheme with its settings on a port."""

    scheme: Scheme
    layout: Layout
    macros: tuple[str, ...] = ()
    """Macros for the compiler of the program."""
    target: Target = Target.V1MODEL
    """Target of the switch's program."""
    room: int | None = None
    """Packets that each queue of the port can hold; None: the sizes of the layout."""
    share_among: str = "meta.flow"
    """Field of a packet with its user or flow, for a fair discipline."""

    def on(self, target: Target) -> "Setup":
        """Setup with the program of a target, and the closest layout that this program supports."""
        return replace(self, target=target, layout=self.layout.on(target))

    @property
    def name(self) -> str:
        """Name as on the command line."""
        return self.scheme.name

    @property
    def label(self) -> str:
        """A short label for a table or an axis."""
        return self.layout.label

    @property
    def queue_sizes(self) -> tuple[int, ...]:
        """Packets that queues 7, 6, ... can hold, or the single buffer of a discipline."""
        if self.room is None:
            return self.layout.queue_sizes
        return (self.room,) * (QUEUES if self.scheme.discipline is Discipline.STRICT else 1)

    @property
    def user_field(self) -> str | None:
        """User field, for disciplines that share the link fairly."""
        return self.share_among if self.scheme.fair else None

    @property
    def parameters(self) -> Parameters | None:
        """Parameters to write when the program is loaded; None: the defaults of the program stay until a law writes."""
        return self.layout if isinstance(self.layout, Parameters) else None
