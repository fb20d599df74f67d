"""`make bench` and `make soak` refuse what they cannot do, with a line that says why."""

import sys
from importlib import import_module

import pytest


def ends(module: str, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> object:
    """The exit code of a command."""
    monkeypatch.setattr(sys, "argv", [module, *arguments])
    try:
        return import_module(f"p4sched.{module}.__main__").main()
    except SystemExit as end:
        return end.code


@pytest.mark.parametrize(
    ("module", "argument", "said"),
    [
        ("bench", "nonsense", "no part 'nonsense'; use one of: engine, forwarding, p4runtime, tables"),
        ("soak", "--minutes=-1", "-1: 0.5 to 1400 minutes are possible"),
        ("soak", "--minutes=nan", "nan: 0.5 to 1400 minutes are possible"),
        ("soak", "--minutes=ten", "'ten' is not a number"),
    ],
)
def test_what_cannot_be_done_is_refused(
    module: str, argument: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ends(module, [argument], monkeypatch) == 2
    assert said in capsys.readouterr().err


def test_a_bench_that_lacks_something_says_what(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("P4SCHED_SWITCH", "/nonexistent")
    assert ends("bench", ["p4runtime"], monkeypatch) == 1
    assert "P4SCHED_SWITCH names '/nonexistent', which is not a file" in capsys.readouterr().out.replace("\n", " ")
