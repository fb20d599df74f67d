"""Parameters that no scheduler can have: each command answers with one sentence, and starts nothing."""

from collections.abc import Callable

import pytest

CONTROL = ("control", "127.0.0.1:9", "--rate", "10mbit", "--program", ".", "--port", "1", "--scheme")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*CONTROL, "aifo", "--window", "33"), "window |W| = 33 is out of range: 1 to 32 ranks"),
        ((*CONTROL, "packs", "--window", "0"), "window |W| = 0 is out of range: 1 to 32 ranks"),
        ((*CONTROL, "packs", "--queues", "9"), "number of queues n = 9 is out of range: 1 to 8 queues"),
        ((*CONTROL, "packs", "--queues", "0"), "number of queues n = 0 is out of range: 1 to 8 queues"),
        ((*CONTROL, "aifo", "--fix", "k=1"), "headroom k = 1 is not in [0, 1)"),
        ((*CONTROL, "rifo", "--fix", "k=-0.1"), "headroom k = -0.1 is not in [0, 1)"),
        ((*CONTROL, "packs", "--fix", "k=nan"), "headroom k = nan is not in [0, 1)"),
        ((*CONTROL, "rifo", "--fix", "T=0"), "tracking range T = 0 is out of range: 1 to 4294967295 packets"),
        ((*CONTROL, "aifo", "--fix", "C=0"), "target length C = 0 is out of range: 1 to 512 packets"),
        ((*CONTROL, "aifo", "--fix", "k=0.1", "--fix", "k=0.2"), "--fix 'k=0.2': k is fixed already"),
        ((*CONTROL, "aifo", "--fix", "C=inf"), "C = inf is not a whole number"),
        (("run", "inversions", "--ranks", "gauss"), "no rank distribution 'gauss'; use one of: uniform, poisson"),
        (("run", "inversions", "--window", "33"), "a window of 33 ranks: the programs were compiled for 1 to 32"),
        (("run", "flow_completion", "--loads", "1.2"), "load 1.2: it must be above 0 and at most 1"),
    ],
)
def test_what_no_scheduler_can_have_is_one_sentence(
    refused: Callable[[tuple[str, ...]], str], words: tuple[str, ...], message: str
) -> None:
    assert message in refused(words)
