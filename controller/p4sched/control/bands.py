"""FDPA's band notation F(FirstBand + NumBands * BandSize) (FDPA paper, section IV-C).

"1+4*0.5": the first band is one fair share wide. Four more bands follow, each half a fair share wide. The last band has
no upper edge.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Self

from p4sched.errors import UsageError, require

MAX_FURTHER_BANDS = 7
"""Limit of NumBands: there are eight priority queues, one for each band."""

_NOTATION = re.compile(
    r"(?:F\s*\(\s*)?(?P<first>\d+(?:\.\d+)?)\s*\+\s*(?P<further>\d+)\s*\*\s*(?P<size>\d+(?:\.\d+)?)(?:\s*\))?",
    re.ASCII,
)


@dataclass(frozen=True)
class Bands:
    """Bands in multiples of the fair share."""

    first: float
    """FirstBand: width of the first band, fair shares."""
    further: int
    """NumBands: number of bands after the first."""
    size: float
    """BandSize: width of each further band, fair shares; the last band has no upper edge."""

    def __post_init__(self) -> None:
        many = f"bands '{self}': {self.further} further bands, but a port has 8 queues: 1 to {MAX_FURTHER_BANDS} fit"
        wide = "must be wider than 0 and at most 1000 fair shares"
        require(0 < self.first <= 1000, f"bands '{self}': the first band {wide}")
        require(1 <= self.further <= MAX_FURTHER_BANDS, many)
        require(0 < self.size <= 1000, f"bands '{self}': further bands {wide}")

    @classmethod
    def parse(cls, text: object) -> Self:
        """Reads "1+4*0.5" or "F(1+4*0.5)"."""
        if isinstance(text, cls):
            return text
        found = _NOTATION.fullmatch(str(text).strip())
        if found is None:
            raise UsageError(
                f"bands '{text}' are not FIRST+COUNT*SIZE with positive numbers, for example 1+4*0.5: "
                "a first band of 1 fair share, then 4 bands of half a fair share"
            )
        return cls(float(found["first"]), int(found["further"]), float(found["size"]))

    @property
    def count(self) -> int:
        """Number of all bands, with the last one."""
        return self.further + 1

    @property
    def edges(self) -> tuple[float, ...]:
        """Upper edge of every band but the last, in fair shares, ascending."""
        return tuple(self.first + i * self.size for i in range(self.further))

    def __str__(self) -> str:
        """Writes all digits, so that `parse` gives the same edges."""
        first, size = (f"{Decimal(str(value)).normalize():f}" for value in (self.first, self.size))
        return f"{first}+{self.further}*{size}"
