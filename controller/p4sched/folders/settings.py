"""A scheme with some of its parameters set, as a command line writes it: `aifo:k=0.1`, `./gearbox:levels=2:tick=128`.

It is a scheme of its own, with its own name, title and colour, so one run can compare several settings.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from p4sched.errors import UsageError, in_range, unknown_name
from p4sched.folders.description import Description, Parameter, Programs
from p4sched.folders.formula import Formula
from p4sched.p4rt.target import PROGRAMS, Target
from p4sched.scheme import Scheme

_SETTING = re.compile(r":(?=[^:/=]*=[^:/]*(?::|$))")
_SHARE = re.compile(r"1/(\d+)")
"""Unit of a parameter whose symbol in the paper is a number from 0 to 1."""


def split(word: str) -> tuple[str, tuple[str, ...]]:
    """The scheme that a word names, and the settings behind it: "aifo:k=0.1" gives "aifo" and ("k=0.1",)."""
    scheme, *settings = _SETTING.split(word)
    return scheme, tuple(settings)


def described(scheme: Scheme, settings: tuple[str, ...]) -> Description:
    """The description of a scheme with these settings, NAME=VALUE each. NAME is that of a parameter, or its symbol.

    Raises:
        UsageError: the scheme has no such parameter, or the value is out of its range.
    """
    base = scheme.description
    if scheme.in_laboratory and not base.port.queue_sizes:
        raise UsageError(f"{base.name}:{settings[0]}: no single parameter of {base.title} can be set for a run")
    values: dict[str, int] = {}
    for setting in settings:
        parameter, value = _parsed(base, setting)
        if parameter.name in values:
            raise UsageError(f"{base.name}:{':'.join(settings)}: {parameter.name} is set twice")
        values[parameter.name] = value
    values = {each.name: values[each.name] for each in base.parameters if each.name in values}
    of_laboratory = scheme.in_laboratory
    return replace(
        base,
        name=":".join(
            [base.name, *(f"{each.name}={values[each.name]}" for each in base.parameters if each.name in values)]
        ),
        title=", ".join([base.title, *_labels(base, values)]),
        parameters=tuple(_set(each, values) for each in base.parameters),
        law=None,
        shared_law=None,
        laboratory=None,
        programs=_in_software(base.programs) if of_laboratory else base.programs,
        settings=values,
        like=base.name if of_laboratory else "",
        port=replace(base.port, not_on_bmv2=scheme.not_on_bmv2),
    )


def word_of(scheme: Scheme) -> str:
    """A word that names the scheme in any process, whatever its working directory."""
    settings = [f"{name}={value}" for name, value in scheme.description.settings.items()]
    base = scheme.description.like or str(scheme.folder)
    return ":".join([base, *settings])


def _parsed(base: Description, setting: str) -> tuple[Parameter, int]:
    name, _, text = setting.partition("=")
    whole = f"{base.name}:{setting}"
    by_name = {each.name: each for each in base.parameters}
    by_symbol = {each.symbol: each for each in base.parameters if each.symbol and each.symbol not in by_name}
    if name not in by_name and name not in by_symbol:
        known = [f"{each.name} ({each.symbol})" if each.symbol in by_symbol else each.name for each in base.parameters]
        close = unknown_name(f"parameter of {base.name}", name, [*by_name, *by_symbol])
        reason = str(close) if "mean" in str(close) else f"{base.name} has {', '.join(known) or 'no parameter'}"
        raise UsageError(f"{whole}: {reason}")
    parameter = by_name.get(name) or by_symbol[name]
    share = _SHARE.fullmatch(parameter.unit) if name in by_symbol else None
    try:
        value = Fraction(text.strip()) * (int(share[1]) if share else 1)
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"{whole}: '{text}' is not a number") from None
    if share is None and value.denominator != 1:
        raise UsageError(f"{whole}: '{text}' is not a whole number of {parameter.unit or 'units'}")
    # rounded up, so that a queue of exactly k C packets is within its headroom
    number = -(-value.numerator // value.denominator)
    in_range(f"{whole}: {parameter.name}", number, parameter.minimum, parameter.maximum, parameter.unit)
    return parameter, number


def _labels(base: Description, values: Mapping[str, int]) -> list[str]:
    """For example "k = 26/256"."""
    found = []
    for each in base.parameters:
        if each.name in values:
            share = each.unit.removeprefix("1") if _SHARE.fullmatch(each.unit) else ""
            found.append(f"{each.symbol or each.name} = {values[each.name]}{share}")
    return found


def _set(parameter: Parameter, values: Mapping[str, int]) -> Parameter:
    if parameter.name not in values:
        return parameter
    value = values[parameter.name]
    return replace(parameter, default=value, alike=Formula.parse(value, ()), tried=(value, value))


def _in_software(programs: Programs | None) -> Programs | None:
    """The program for v1model alone: only there the model keeps the values that are set."""
    if programs is None:
        return None
    # the folder depends on the environment
    file = PROGRAMS[Target.V1MODEL].folder / programs.files[Target.V1MODEL].name
    return replace(programs, files={Target.V1MODEL: file})
