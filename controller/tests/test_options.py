"""Options of the experiments: none is ignored in silence, and what a person gave is what counts."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import pytest
import typer

from p4sched.cli import experiments, options
from p4sched.cli.options import Bmv2Default, QuickDefault
from p4sched.lab import experiment
from p4sched.lab.experiment import Experiment, RunOptions, SchemeOutcome, Stage
from p4sched.units import Duration, Rate

NO_LIVE = "with --stepped: stepped time has the paper's rates, and no switch"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("inversions", "--stepped", "--switch", "bmv2"), f"--switch has no effect {NO_LIVE}"),
        (("inversions", "--stepped", "--depth", "register"), f"--depth has no effect {NO_LIVE}"),
        (("inversions", "--stepped", "--rate", "10mbit"), f"--rate has no effect {NO_LIVE}"),
        (("inversions", "--stepped", "--duration", "5s"), f"--duration has no effect {NO_LIVE}"),
        (("inversions", "--stepped", "--worker-round", "1ms"), f"--worker-round has no effect {NO_LIVE}"),
        (("inversions", "--stepped", "--schemes", "aifo", "--window-shift", "5"), "without packs among --schemes"),
        (("inversions", "--window-shift", "5"), "--window-shift has no effect without --stepped"),
        (("inversions", "--packets", "1000"), "--packets has no effect without --stepped"),
        (("inversions", "--worker-round", "1ms"), "--worker-round has no effect without --depth worker"),
        (
            ("inversions", "--duration", "1ns"),
            "--duration 1ns is too short: there are 100 ranks, a packet for each; use at least",
        ),
        (("inversions", "--schemes", "aifo,,packs"), "'aifo,,packs' has a comma without a scheme"),
        (("fdpa_fairness", "--controller", "ryu"), "no controller 'ryu'; use one of: python, onos"),
        (("fdpa_join_leave", "--controller", "python,onos"), "fdpa_join_leave has one result, so one controller"),
        (("three_flows", "--controller", "onos"), "No such option: --controller"),
        (("fdpa_fairness", "--schemes", "fifo,fifo"), "scheme fifo is in 'fifo,fifo' twice"),
        (("fdpa_fairness", "--schemes", "fifo,drr", "--bands", "1+4*1"), "--bands has no effect without fdpa among"),
        (("fdpa_fairness", "--duration", "1.5s"), "--duration 1500ms must be a whole number of seconds, at least 1"),
        (("fdpa_join_leave", "--phase", "3s"), "--phase 3s must be a whole number of seconds, at least 4"),
        (("fair_queueing", "--schemes", "drr", "--afq-queues", "8"), "--afq-queues has no effect without afq among"),
        (("flow_completion", "--loads", "0.5,0.8,0.50"), "load 0.5 is in '0.5,0.8,0.50' twice"),
        (("flow_completion", "--scale", "nan"), "Invalid value for '--scale'"),
        (("flow_completion", "--seed", str(2**63)), f"Input should be less than or equal to {2**63 - 1}"),
        (("fdpa_fairness", "--users", "2", "--weights", "1,2,3"), "weights '1,2,3': 3 of them for 2 users"),
        (("flow_completion", "--duration", "1ms"), "--duration 1ms is too short"),
        (("flow_completion", "--rto-min", "1ns"), "--rto-min 1ns: must be 1ms to 1s"),
        (("flow_completion", "--rto-min", "1000s"), "--rto-min 1000s: must be 1ms to 1s"),
        (("flow_completion", "--out", ""), "the name of the folder is empty"),
        (("flow_completion", "--out", "/proc/version"), "--out /proc/version: cannot write results there"),
        (("control_laws", "--no-live", "--switch", "embedded"), "--switch has no effect with --no-live"),
        (("incast", "--schemes", "fifo", "--delay", "1ms"), "--delay has no effect without one of aifo, rifo, packs"),
        (("incast", "--schemes", "fdpa", "--buffer", "9"), "--buffer has no effect with fdpa alone"),
        (("priority_udp", "--rate", "1000gbit"), "--rate 1000gbit: a flow sends 2 times 1000gbit, and at most 400gbit"),
        (("priority_udp", "--rate", "30gbit", "--load", "20"), "--rate 30gbit --load 20: a flow sends 20 times 30gbit"),
        (("inversions", "--rate", "1000gbit"), "--rate 1000gbit: a flow sends 1.1 times 1000gbit, and at most 400gbit"),
        (("control_laws", "--rate", "1000gbit"), "--rate 1000gbit: a flow sends"),
        (("incast", "--duration", "1s"), "--duration 1s is too short: it holds one round or more"),
        (
            ("flow_completion", "--schemes", "aifo", "--tracking-range", "9"),
            "--tracking-range has no effect without rifo",
        ),
        (
            ("leaf_spine", "--schemes", "fifo", "--delay", "1ms"),
            "--delay has no effect without one of aifo, rifo, packs",
        ),
        (("leaf_spine", "--duration", "900ms"), "--duration 900ms must be a whole number of seconds, at least 1"),
        (("--all", "--out", ""), "the name of the folder is empty"),
        (("--all", "--out", "/proc/version"), "--out /proc/version: cannot write results there"),
    ],
)
def test_an_option_that_means_nothing_is_refused(
    refused: Callable[[tuple[str, ...]], str], words: tuple[str, ...], message: str
) -> None:
    assert message in refused(("run", *words))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), (12, 100)),
        (("--quick",), (3, 100)),
        (("--duration", "5s"), (5, 100)),
        (("--quick", "--duration", "12s"), (12, 100)),
        (("--switch", "bmv2"), (12, 20)),
        (("--switch", "bmv2", "--rate", "100mbit", "--quick"), (3, 100)),
    ],
)
def test_what_is_given_wins_over_quick_and_over_the_default_of_a_switch(
    words: tuple[str, ...], expected: tuple[int, int], tmp_path: Path
) -> None:
    seen: list[tuple[float, float]] = []

    def setting(
        run_options: RunOptions,
        duration: Annotated[
            Duration, options.time_option("Time."), QuickDefault(Duration.parse("3s"))
        ] = Duration.parse("12s"),
        rate: Annotated[Rate, options.rate_option(), Bmv2Default(Rate.parse("20mbit"))] = Rate.parse("100mbit"),
    ) -> None:
        seen.append((duration.seconds, rate / 1e6))

    async def measure(_: None, stage: Stage) -> SchemeOutcome[None]:
        return SchemeOutcome({}, None)

    mine: Experiment[None, None] = Experiment(
        name="mine",
        summary="",
        setting=setting,
        configuration=lambda _: {},
        measure=measure,
        table=lambda _: [],
        figure=lambda _, path: path.touch(),
        in_lab=lambda _: False,
    )
    app = typer.Typer(add_completion=False)
    app.command()(experiments.command(mine))
    app([*words, "--out", str(tmp_path)], standalone_mode=False)
    assert seen == [expected]


@pytest.mark.parametrize("name", experiment.names())
def test_the_help_of_every_experiment_says_that_what_is_given_wins(name: str) -> None:
    app = typer.Typer()
    app.command()(experiments.command(experiment.load(name)))
    helps = {parameter.opts[0]: getattr(parameter, "help", "") for parameter in typer.main.get_command(app).params}
    assert helps["--quick"].endswith("Options that you give keep their value.")
