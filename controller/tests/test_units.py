"""Rates and durations as options give them."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from p4sched.errors import UsageError
from p4sched.units import Duration, Rate


@pytest.mark.parametrize(
    ("text", "bits"),
    [("500mbit", 500_000_000), ("1.5gbit", 1_500_000_000), ("64Kbit", 64_000), ("8 bit/s", 8), (".5mbit", 500_000)],
)
def test_rates_are_bits_a_second_with_decimal_prefixes(text: str, bits: int) -> None:
    assert Rate.parse(text) == bits


@pytest.mark.parametrize(("text", "ns"), [("10ms", 10_000_000), ("1.5s", 1_500_000_000), ("250us", 250_000)])
def test_durations_are_nanoseconds(text: str, ns: int) -> None:
    assert Duration.parse(text) == ns


@pytest.mark.parametrize("text", ["0mbit", "-5mbit", "500", "fast", "", "500mb", "1e3mbit", "nanmbit", "0.1bit"])
def test_rates_that_are_no_positive_rate_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"500mbit"):
        Rate.parse(text)


@pytest.mark.parametrize("text", ["0ms", "-10ms", "10", "soon", "1e3s", "0.1ns"])
def test_times_that_are_no_positive_time_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"10ms"):
        Duration.parse(text)


@given(st.integers(1, 10**12))
def test_what_is_shown_reads_back_exactly(value: int) -> None:
    assert Rate.parse(str(Rate(value))) == value
    assert Duration.parse(str(Duration(value))) == value


@pytest.mark.parametrize(
    ("parse", "text", "message"),
    [
        (Rate.parse, "99999999999999999999gbit", "is above 1000gbit"),
        (Rate.parse, "5\uff10\uff10mbit", "is not a rate"),
        (Duration.parse, "99999999999999999s", "is above a day"),
    ],
)
def test_what_no_port_and_no_run_has_is_refused(parse: Callable[[str], int], text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse(text)


def test_the_shortest_form_is_shown() -> None:
    assert str(Rate.parse("500000kbit")) == "500mbit"
    assert str(Duration.parse("60000us")) == "60ms"
