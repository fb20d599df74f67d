"""Set parameters of a scheme: `aifo:k=0.1`. Each setting is a scheme of its own in a run."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from p4sched import simulate
from p4sched.cli.main import run_command
from p4sched.control.parameters import Comparison
from p4sched.errors import UsageError
from p4sched.folders.scheme import layout_of
from p4sched.folders.schemes import find, give_own_colours, named, of_folder
from p4sched.folders.settings import word_of
from p4sched.paths import SCHEDULERS_DIR
from p4sched.scheme import Scheme
from p4sched.schemes import SCHEMES, title


@pytest.fixture(autouse=True)
def known_schemes() -> Iterator[None]:
    """Forgets the schemes of a test."""
    before = dict(SCHEMES)
    yield
    SCHEMES.clear()
    SCHEMES.update(before)
    of_folder.cache_clear()


GEARBOX = str(SCHEDULERS_DIR / "gearbox")
SETTABLE = [scheme for scheme in SCHEMES.values() if scheme.in_laboratory and scheme.description.port.queue_sizes]
COMPARISONS = (Comparison(80), Comparison(80, 32, 0.1), Comparison(48, 20, 0.5, queues=6), Comparison(20, 5, queues=1))


@pytest.mark.parametrize("scheme", SETTABLE, ids=lambda scheme: scheme.name)
@pytest.mark.parametrize("comparison", COMPARISONS, ids=str)
def test_the_formulas_of_the_laboratory_give_the_parameters_of_its_classes(
    scheme: Scheme, comparison: Comparison
) -> None:
    by_formula = layout_of(scheme.description).for_comparison(comparison)
    by_class = scheme.for_comparison(comparison)
    assert by_formula.queue_sizes == by_class.queue_sizes
    # FIFO's class leaves the size to the queue of the port
    assert by_class.parameters is not None
    expected = {"depth": comparison.buffer} if scheme.name == "fifo" else by_class.parameters.action_data()
    assert by_formula.action_data() == expected


@pytest.mark.parametrize(
    ("word", "name", "shown", "data"),
    [
        ("aifo:k=0.1", "aifo:headroom_256=26", "AIFO, k = 26/256", {"headroom_256": 26, "target_packets": 48}),
        ("aifo:headroom_256=26", "aifo:headroom_256=26", "AIFO, k = 26/256", {"headroom_256": 26}),
        ("aifo:size=9:C=7", "aifo:target_packets=7:capacity_packets=9", "AIFO, C = 7, size = 9", {"target_packets": 7}),
        ("rifo:T=20", "rifo:tracking_packets=20", "RIFO, T = 20", {"tracking_packets": 20, "capacity_packets": 48}),
        ("packs:size_6=0", "packs:size_6=0", "PACKS, B_6 = 0", {"size_5": 8, "size_6": 0}),
        (f"{GEARBOX}:L=2", "gearbox:levels=2", "Gearbox, L = 2", {"levels": 2, "size": 48}),
        ("gearbox:levels=2", "gearbox:levels=2", "Gearbox, L = 2", {"levels": 2}),
    ],
)
def test_a_setting_is_a_scheme_of_its_own(word: str, name: str, shown: str, data: dict[str, int]) -> None:
    assert find(word, SCHEMES) == named(word) == name
    assert title(name) == shown
    # its name and its word name it in another process, too
    assert find(name, SCHEMES) == find(word_of(SCHEMES[name]), SCHEMES) == name
    parameters = SCHEMES[name].for_comparison(Comparison(48, 20, queues=6)).parameters
    assert parameters is not None
    assert data.items() <= parameters.action_data().items()
    assert SCHEMES[name].law is None


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("aifo:q=3", r"aifo:q=3: aifo has target_packets \(C\), .*sampling \(S\)"),
        ("aifo:headrom_256=3", "no parameter of aifo 'headrom_256'; did you mean 'headroom_256'"),
        ("aifo:k=1", r"aifo:k=1: headroom_256 = 256 is out of range: 0 to 255"),
        ("aifo:headroom_256=0.1", r"aifo:headroom_256=0.1: '0.1' is not a whole number of 1/256"),
        ("aifo:C=many", "aifo:C=many: 'many' is not a number"),
        ("aifo:C=", "aifo:C=: '' is not a number"),
        ("aifo:C=1:target_packets=2", "aifo:C=1:target_packets=2: target_packets is set twice"),
        ("fdpa:edge_1=3", "fdpa:edge_1=3: no single parameter of FDPA can be set for a run"),
        ("pifo:depth=3", "pifo:depth=3: no single parameter of PIFO can be set for a run"),
        ("wfq:C=3", "no scheme 'wfq'"),
        ("./nowhere:C=3", "is not the folder of a scheduler"),
        (f"{GEARBOX}:levels=9", "gearbox:levels=9: levels = 9 is out of range: 1 to 8"),
    ],
)
def test_a_setting_that_cannot_be_is_one_sentence(word: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        find(word, SCHEMES)


def test_schemes_of_one_figure_have_different_colours() -> None:
    names = [find(word, SCHEMES) for word in ("aifo", "aifo:k=0.2", "aifo:k=0.3", "packs", "gearbox")]
    give_own_colours(names)
    colours = [SCHEMES[name].colour for name in names]
    assert len(set(colours)) == len(names)
    assert (colours[0], colours[3], colours[4]) == ("orange", "blue", "olive")


def test_one_run_compares_two_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = "aifo,aifo:k=0.5,aifo:window_ranks=20,aifo:C=80,packs,packs:k=0"
    command = ["run", "inversions", "--stepped", "--packets", "20000", "--window", "32", "--schemes", words]
    assert run_command([*command, "--out", str(tmp_path)]) == 0
    assert "NOT" not in capsys.readouterr().out
    with (tmp_path / "ranks.csv").open() as file:
        rows = list(csv.DictReader(file))
    drops: dict[str, list[int]] = {}
    for row in rows:
        drops.setdefault(row["scheme"], []).append(int(row["drops"]))
    # what a comparison sets anyway changes nothing
    assert drops["aifo"] == drops["aifo:target_packets=80"]
    assert drops["packs"] == drops["packs:headroom_256=0"]
    assert drops["aifo"] != drops["aifo:headroom_256=128"]
    assert drops["aifo"] != drops["aifo:window_ranks=20"]


@pytest.mark.parametrize("programs", [False, True])
def test_a_network_with_a_setting_is_that_with_all_parameters(programs: bool) -> None:
    def run(ports: simulate.Ports) -> simulate.Array:
        scenario = simulate.Scenario(
            topology=simulate.Dumbbell(3, simulate.Link.of("100mbit", "10us"), simulate.Link.of("10mbit", "1ms")),
            ports=ports,
            flows=[simulate.Flow(f"u{number}", "server", 300_000, rank=number) for number in (1, 2, 3)],
            end_ns=2_000_000_000,
        )
        return simulate.run(scenario, programs=programs).flows["received_ns"]

    whole = {"target_packets": 10, "capacity_packets": 80, "headroom_256": 0, "window_ranks": 16, "sampling": 1}
    of_setting = run(simulate.Ports("aifo:C=10", window=16))
    assert (of_setting == run(simulate.Ports("aifo", parameters=whole))).all()
    assert not (of_setting == run(simulate.Ports("aifo", window=16))).all()


def test_a_run_in_virtual_time_names_its_setting(tmp_path: Path) -> None:
    command = ["run", "inversions", "--virtual", "--duration", "0.3s", "--schemes", "aifo,aifo:C=10"]
    assert run_command([*command, "--out", str(tmp_path)]) == 0
    found = (tmp_path / "summary.json").read_text()
    assert '"aifo:target_packets=10"' in found


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["run", "fdpa_fairness", "--virtual", "--schemes", "aifo:k=0.1"], "no scheme 'aifo'"),
        (
            ["run", "inversions", "--stepped", "--schemes", "packs,packs:k=0.1", "--window-shift", "3"],
            "--window-shift has no effect with a scheme that has set parameters",
        ),
        (
            ["run", "inversions", "--virtual", "--schemes", "aifo:k=0.1", "--target", "tna"],
            "left out: a scheme of the laboratory with set",
        ),
        (
            ["run", "inversions", "--virtual", "--schemes", "aifo:k=0.1,aifo:headroom_256=26"],
            "headroom_256=26 is in .* twice",
        ),
        (
            ["run", "control_laws", "--virtual", "--quick", "--schemes", "aifo:k=0.1"],
            "it has no control law here; use aifo",
        ),
        (
            ["control", "127.0.0.1:1", "--scheme", "aifo:k=0.1", "--rate", "1mbit", "--program", "build/p4"],
            "has no control law",
        ),
    ],
)
def test_where_a_setting_has_no_place(words: list[str], says: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run_command(words) != 0
    out = capfd.readouterr()
    assert re.search(says, out.err + out.out), out
