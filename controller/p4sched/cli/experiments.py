"""An experiment as a command: `--schemes`, its own options, then the options that all experiments share."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from typer.models import OptionInfo

from p4sched.cli import options
from p4sched.cli.command_line import explicit_options
from p4sched.cli.options import Bmv2Default, MinimumRtts, QuickDefault, ScaledDefault
from p4sched.errors import UsageError
from p4sched.folders.description import DescriptionError, place
from p4sched.folders.schemes import find, give_own_colours
from p4sched.lab import frame, time_scale
from p4sched.lab.experiment import Choice, ControllerKind, Experiment, HostKind, RunOptions, Seed, SwitchKind, choose
from p4sched.lab.time_scale import Base
from p4sched.p4rt.target import Target
from p4sched.scheme import Scheme
from p4sched.schemes import SCHEMES
from p4sched.traits import ComparisonKind
from p4sched.units import Duration, Rate

SHARED = ("schemes", "seed", "quick", "time_scale", "virtual", "no_text", "switch", "target", "controller", "out")
"""Parameters that the frame adds, in addition to those of `hosts_option` and `page_option`."""


NO_TOPOLOGY = "no_topology"
"""Hidden option `--topology` of an experiment that has no topology."""


def command(experiment: Experiment[Any, Any]) -> Callable[..., None]:
    """The experiment as a function for typer. Its parameters are the options."""
    own = _own(experiment)
    kind, page = _parameter_name(hosts_option(experiment)), _parameter_name(page_option(experiment))

    def run(ctx: typer.Context, **values: Any) -> None:
        explicit = explicit_options(ctx)
        if values.pop(NO_TOPOLOGY, None) is not None:
            raise UsageError(
                f"--topology: the network of {experiment.name} follows from its own options;"
                " p4sched run leaf_spine takes one from a file"
            )
        shared = {name: values.pop(name) for name in (*SHARED, kind, page) if name in values}
        run_options = replace(_run_options(experiment, shared, explicit), hosts=_hosts(experiment, shared, explicit))

        def at(scale: float) -> Mapping[str, Any]:
            return {
                parameter.name: value
                if explicit[_option(parameter)]
                else _scaled_default(parameter, experiment.base, scale, _default(parameter, run_options, value))
                for parameter in own
                for value in [values[parameter.name]]
            }

        from p4sched.cli import live  # noqa: PLC0415 - a client, which other commands need not load

        shown, bmv2 = shared.get(page, False), run_options.switch == SwitchKind.BMV2
        if shown and bmv2:
            raise UsageError(f"{page_option(experiment)}: BMv2 reports no queue lengths; leave out --switch bmv2")
        text = live.in_terminal() and not shared.get("no_text", True) and not bmv2
        # no recording in virtual time: it would depend on the machine's load
        record = run_options.hosts is None and not bmv2
        frame.run(
            experiment,
            run_options,
            at,
            page=partial(live.live_page, text=text) if shown else None,
            text=partial(live.live_text, text=text, record=record) if text or record else None,
        )

    context = _parameter("ctx", typer.Context, inspect.Parameter.empty)
    parameters = [context, *_schemes(experiment.schemes), *map(_with_both_defaults, own), *_shared(experiment, own)]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__doc__ = "\n\n".join(text for text in (experiment.summary, inspect.getdoc(experiment.setting)) if text)
    return run


def _run_options(
    experiment: Experiment[Any, Any], shared: Mapping[str, Any], explicit: Mapping[str, bool]
) -> RunOptions:
    compared = experiment.schemes
    schemes = [] if compared is None else choose("scheme", shared["schemes"], compared.names, find)
    if compared is not None and compared.comparison is not None:
        for name in schemes:
            _require_comparison(SCHEMES[name], compared.comparison, experiment.name)
    give_own_colours(schemes)
    controllers = shared.get("controller", ControllerKind.PYTHON)
    return RunOptions(
        switch=shared["switch"],
        out=shared["out"],
        quick=shared["quick"],
        schemes=schemes,
        seed=shared.get("seed", 1),
        explicit=explicit,
        time_scale=time_scale.parse(shared.get("time_scale", "auto")),
        target=shared.get("target", Target.V1MODEL),
        controllers=[ControllerKind(name) for name in choose("controller", controllers, experiment.controllers)],
    )


def _require_comparison(scheme: Scheme, comparison: ComparisonKind, experiment: str) -> None:
    """Raises DescriptionError unless a scheme takes part in the comparison of an experiment."""
    if comparison not in scheme.comparisons:
        word = comparison.name.lower()
        where = place(scheme.description.file, "", "compared")
        raise DescriptionError(f'{where}: compared has no "{word}", which {experiment} needs')


def hosts_option(experiment: Experiment[Any, Any]) -> str:
    """The option for the kind of hosts in virtual time; `--virtual-hosts` if the experiment has its own `--hosts`."""
    return _free_option(experiment, "--hosts", "--virtual-hosts")


def page_option(experiment: Experiment[Any, Any]) -> str:
    """The option for the live page; `--live-page` if the experiment has its own `--live`."""
    return _free_option(experiment, "--live", "--live-page")


def _free_option(experiment: Experiment[Any, Any], usual: str, otherwise: str) -> str:
    own = {_option(parameter) for parameter in _own(experiment)}
    return otherwise if usual in own else usual


def _own(experiment: Experiment[Any, Any]) -> list[inspect.Parameter]:
    """The experiment's own options."""
    return list(inspect.signature(experiment.setting, eval_str=True).parameters.values())[1:]


def _parameter_name(option: str) -> str:
    return option.removeprefix("--").replace("-", "_")


def _hosts(
    experiment: Experiment[Any, Any], shared: Mapping[str, Any], explicit: Mapping[str, bool]
) -> HostKind | None:
    """The hosts of a run in virtual time; None in real time. Raises UsageError for hosts in real time."""
    option = hosts_option(experiment)
    if experiment.simulated:
        if shared.get("virtual"):
            typer.echo(f"--virtual changes nothing: {experiment.name} always runs in virtual time, with models")
        return None
    if shared.get("virtual"):
        hosts: HostKind = shared[_parameter_name(option)]
        return hosts
    if explicit.get(option):
        raise UsageError(f"{option} has no effect without --virtual: an emulated host uses the machine's own kernel")
    return None


def _default(parameter: inspect.Parameter, run_options: RunOptions, value: Any) -> Any:
    """The default of an option in this run."""
    if run_options.quick and (quick := _mark(parameter, QuickDefault)):
        return quick.value
    if run_options.switch == SwitchKind.BMV2 and (bmv2 := _mark(parameter, Bmv2Default)):
        return bmv2.value
    return value


def _scaled_default(parameter: inspect.Parameter, base: Base | None, scale: float, value: Any) -> Any:
    """The default of an option at a time scale."""
    if base is None or value is None:
        return value
    if _mark(parameter, ScaledDefault):
        return Rate(round(value / scale)) if isinstance(value, Rate) else Duration(round(value * scale))
    if least := _mark(parameter, MinimumRtts):
        seconds = -(-least.count * base.at(scale).rtt // 10**9)
        return max(value, Duration(seconds * 10**9))
    return value


def _mark(parameter: inspect.Parameter, kind: type) -> Any:
    """The mark of this kind in an option's annotation, or None."""
    return next((mark for mark in get_args(parameter.annotation) if isinstance(mark, kind)), None)


def _option(parameter: inspect.Parameter) -> str:
    """The option of a parameter, as on the command line."""
    option_info = _mark(parameter, OptionInfo)
    # typer keeps the first name of an annotated option as its default
    name = option_info.default if option_info is not None else ...
    return f"--{parameter.name.replace('_', '-')}" if name is ... else str(name).split("/")[0]


def _with_both_defaults(parameter: inspect.Parameter) -> inspect.Parameter:
    """The experiment's own option; its help shows both defaults if BMv2 has another one."""
    parameter = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
    bmv2 = _mark(parameter, Bmv2Default)
    if bmv2 is None:
        return parameter
    kind, *marks = get_args(parameter.annotation)
    option_info = copy(_mark(parameter, OptionInfo))
    option_info.show_default = f"{parameter.default}; {bmv2.value} on BMv2"
    marks = [option_info if isinstance(mark, OptionInfo) else mark for mark in marks]
    return parameter.replace(annotation=Annotated[(kind, *marks)])


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _schemes(choice: Choice | None) -> list[inspect.Parameter]:
    if choice is None:
        return []
    every = ",".join(choice.names)
    help_text = f"{choice.help} A scheme may also be the folder of a scheduler, or have set parameters (aifo:k=0.1)."
    option = typer.Option("--schemes", "--scheme", metavar=every, help=help_text)
    return [_parameter("schemes", Annotated[str, option], choice.default or every)]


def _shared(experiment: Experiment[Any, Any], own: list[inspect.Parameter]) -> list[inspect.Parameter]:
    short = " ".join(f"{_option(each)} {mark.value}" for each in own if (mark := _mark(each, QuickDefault)))
    quick = options.quick_option(experiment.quick or short)
    out = Path("results") / experiment.name
    return [
        *_seed(experiment.seed),
        _parameter("quick", Annotated[bool, quick], False),
        *([] if experiment.base is None else [_parameter("time_scale", options.TimeScale, "auto")]),
        *(_virtual_anyway() if experiment.simulated else _virtual(hosts_option(experiment))),
        *([] if experiment.simulated else _page(page_option(experiment))),
        _parameter("switch", options.WhichSwitch, SwitchKind.EMBEDDED),
        *([_parameter("target", options.WhichTarget, Target.V1MODEL)] if len(experiment.targets) > 1 else []),
        *_controller(experiment.controllers),
        *([] if "--topology" in map(_option, own) else _no_topology()),
        _parameter("out", options.ResultFolder, out),
    ]


def _virtual(hosts: str) -> list[inspect.Parameter]:
    kind = Annotated[HostKind, typer.Option(hosts, help=options.HOSTS_HELP)]
    return [
        _parameter("virtual", options.InVirtualTime, False),
        _parameter(_parameter_name(hosts), kind, HostKind.MODEL),
    ]


def _virtual_anyway() -> list[inspect.Parameter]:
    option = typer.Option("--virtual", help="No effect: this experiment always runs in virtual time.", hidden=True)
    return [_parameter("virtual", Annotated[bool, option], False)]


def _no_topology() -> list[inspect.Parameter]:
    option = typer.Option("--topology", hidden=True)
    return [_parameter(NO_TOPOLOGY, Annotated[str | None, option], None)]


def _page(option: str) -> list[inspect.Parameter]:
    page = typer.Option(option, help=options.PAGE_HELP)
    return [
        _parameter(_parameter_name(option), Annotated[bool, page], False),
        _parameter("no_text", options.NoText, False),
    ]


def _controller(controllers: Sequence[ControllerKind]) -> list[inspect.Parameter]:
    if len(controllers) == 1:
        return []
    who = "Controller of the switches; runs the control laws. Several: one run with each."
    option = typer.Option(metavar=",".join(controllers), help=who)
    return [_parameter("controller", Annotated[str, option], ControllerKind.PYTHON.value)]


def _seed(seed: Seed | None) -> list[inspect.Parameter]:
    if seed is None:
        return []
    bounds: dict[str, Any] = {"min": 0, "max": options.MAX_SEED} if seed.bounded else {}
    return [_parameter("seed", Annotated[int, typer.Option(help=seed.help, **bounds)], 1)]
