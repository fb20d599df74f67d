"""The paper's notation F(FirstBand + NumBands * BandSize)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from p4sched.control.bands import Bands
from p4sched.errors import UsageError


def test_the_papers_example_has_edges_at_1_1_5_2_and_2_5_fair_shares() -> None:
    bands = Bands.parse("1+4*0.5")
    assert bands.edges == (1.0, 1.5, 2.0, 2.5)
    assert bands.count == 5


@pytest.mark.parametrize("text", ["F(1+4*0.5)", " 1 + 4 * 0.5 ", "1.0+4*0.50"])
def test_other_spellings_mean_the_same(text: str) -> None:
    assert Bands.parse(text) == Bands(1, 4, 0.5)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("x", "not FIRST+COUNT*SIZE"),
        ("", "not FIRST+COUNT*SIZE"),
        ("1", "not FIRST+COUNT*SIZE"),
        ("-1+4*0.5", "not FIRST+COUNT*SIZE"),
        ("1+-4*0.5", "not FIRST+COUNT*SIZE"),
        ("1+4*nan", "not FIRST+COUNT*SIZE"),
        ("1e9+4*0.5", "not FIRST+COUNT*SIZE"),
        ("1+0*0", "0 further bands"),
        ("1+8*0.5", "8 further bands"),
        ("0+4*0.5", "first band must be wider than 0"),
        ("1+4*0", "further bands must be wider than 0"),
        ("1001+4*0.5", "at most 1000"),
    ],
)
def test_bad_bands_are_refused_with_the_reason(text: str, wrong: str) -> None:
    with pytest.raises(UsageError) as caught:
        Bands.parse(text)
    assert wrong in str(caught.value)
    assert "\n" not in str(caught.value)


@given(
    st.floats(0.0001, 1000),
    st.integers(1, 7),
    st.floats(0.0001, 1000),
)
def test_edges_ascend_and_the_notation_reads_back(first: float, further: int, size: float) -> None:
    bands = Bands(first, further, size)
    assert len(bands.edges) == further
    assert list(bands.edges) == sorted(set(bands.edges))
    assert Bands.parse(str(bands)) == bands


def test_the_notation_is_written_as_people_write_it() -> None:
    assert str(Bands(1, 4, 0.5)) == "1+4*0.5"
    assert str(Bands(1000, 1, 0.00001)) == "1000+1*0.00001"
