"""The numbers that programs and controllers share are read from p4/shared/constants.p4."""

from p4sched import constants
from p4sched.p4rt.rank_source import RankSource


def test_constants_and_macros_that_are_numbers_are_read() -> None:
    text = """
const bit<9> CPU_PORT = 509;
#define MAX_USERS 4096
const bit<16> ETHERTYPE = 0x88b5;
#ifdef OTHER
#error "no number"
"""
    assert constants.definitions(text) == {"CPU_PORT": 509, "MAX_USERS": 4096, "ETHERTYPE": 0x88B5}


def test_the_numbers_are_those_of_the_programs() -> None:
    assert (constants.CPU_PORT, constants.RANK_PORT, constants.ECMP_BUCKETS) == (509, 5376, 64)
    assert [int(source) for source in RankSource] == [0, 1, 2, 3]
