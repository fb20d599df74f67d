"""Samples of each user's rate, and the numbers of the paper from them (FDPA paper, section IV-B and C)."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from p4sched.p4rt.reader import Reader
from p4sched.p4rt.users import departures

ReadBytes = Callable[[], Awaitable[Mapping[int, int]]]
"""Reads the bytes delivered so far for each user id, all users at one instant."""


@dataclass(frozen=True)
class Reading:
    """Bytes delivered so far, and the time of reading."""

    at: float
    """Seconds on the event loop's clock, the middle of the read."""
    delivered: Mapping[int, int]


@dataclass(frozen=True)
class Sample:
    """Mean rates between two readings."""

    start: float
    """Seconds on the event loop's clock."""
    end: float
    rates: tuple[float, ...]
    """Bit/s of each user, in the order of the `users` argument."""


def departures_of(reader: Reader, users: Sequence[int]) -> ReadBytes:
    """Reads the delivered bytes of these users from the switch's counter of departures."""

    async def read() -> Mapping[int, int]:
        return {user: count.bytes for user, count in (await departures(reader, users)).items()}

    return read


async def take_reading(read: ReadBytes) -> Reading:
    """Takes one reading, dated to the middle of its duration."""
    clock = asyncio.get_running_loop().time
    before = clock()
    delivered = await read()
    return Reading((before + clock()) / 2, delivered)


def rates_between(earlier: Reading, later: Reading, users: Sequence[int]) -> Sample:
    """The users' mean rates between two readings."""
    seconds = later.at - earlier.at
    return Sample(
        earlier.at,
        later.at,
        tuple((later.delivered.get(user, 0) - earlier.delivered.get(user, 0)) * 8 / seconds for user in users),
    )


def unmeasured(samples: Sequence[Sample], users: Sequence[int]) -> list[str]:
    """A sentence for each gap in the samples: no samples, or users without any delivered byte."""
    if not samples:
        return ["there is no sample"]
    silent = [str(user) for place, user in enumerate(users) if not any(sample.rates[place] for sample in samples)]
    if len(silent) == len(users):
        return ["nothing was delivered in any sample"]
    return [f"nothing of user {', '.join(silent)} was delivered in any sample"] if silent else []


async def sample_rates(
    read: ReadBytes,
    users: Sequence[int],
    count: int,
    interval: float = 1.0,
    on_sample: Callable[[Sample], None] = lambda _: None,
) -> list[Sample]:
    """`count` samples of `interval` seconds on a fixed grid: a late sample does not shift the next one."""
    clock = asyncio.get_running_loop().time
    start = clock()
    previous = await take_reading(read)
    samples = []
    for tick in range(1, count + 1):
        await asyncio.sleep(max(0.0, start + tick * interval - clock()))
        current = await take_reading(read)
        samples.append(rates_between(previous, current, users))
        on_sample(samples[-1])
        previous = current
    return samples
