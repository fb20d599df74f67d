"""Number of TCP connections of each user: the four traffic scenarios of the FDPA paper, section IV-C."""

import math
import random

from p4sched.errors import UsageError, unknown_name
from p4sched.lab.network import MAX_USERS

MISBEHAVING_SHARE = {"equal": 0.0, "quarter": 0.25, "half": 0.5}
"""Share of the users that open MANY connections, rounded up to whole users; the others open one."""
MANY = 10
SCENARIOS = (*MISBEHAVING_SHARE, "uniform")


def connections(scenario: str, users: int, seed: int) -> list[int]:
    """TCP connections of user 1, 2, ...; `uniform` draws 1 to MANY for each.

    Only the seed decides which users misbehave, so every scheme of a run gets the same traffic.
    """
    if not 1 <= users <= MAX_USERS:
        raise UsageError(f"{users} users: must be 1 to {MAX_USERS}")
    chance = random.Random(seed)
    if scenario == "uniform":
        return [chance.randint(1, MANY) for _ in range(users)]
    if scenario not in MISBEHAVING_SHARE:
        raise unknown_name("scenario", scenario, SCENARIOS)
    many = math.ceil(users * MISBEHAVING_SHARE[scenario])
    misbehaving = set(chance.sample(range(users), many))
    return [MANY if user in misbehaving else 1 for user in range(users)]
