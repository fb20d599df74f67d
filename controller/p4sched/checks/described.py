"""Faults of a description that only its programs and its numbers show."""

import json
from collections.abc import Sequence
from typing import Any

from p4sched.checks.step import Step
from p4sched.errors import P4schedError, unknown_name
from p4sched.folders import description as descriptions
from p4sched.folders.description import Description
from p4sched.p4rt.compile import compiled_program
from p4sched.p4rt.target import Target
from p4sched.scheme import Scheme

OF_ALL_PROGRAMS = ("NoAction", "ipv4_routes", "ecmp_paths")
"""Names in every program that no description means."""


def fault(scheme: Scheme, values: Sequence[Sequence[int]]) -> Step | None:
    """The first fault of a description, as a failed step. `values`: parameters for which the port must have sizes."""
    description = scheme.description
    for target in description.programs.files if description.programs else ():
        if lines := _unknown_names(description, target):
            return Step(f"the names in {description.file.name} are those of the program for {target}", False, lines)
        if lines := _too_narrow(description, target):
            return Step(f"the action's parameters for {target} hold the values of the description", False, lines)
    if lines := _other_defaults(description):
        return Step("without a controller, the program has the defaults of the description", False, lines)
    if lines := _sizes(scheme, values):
        return Step("the formulas of the port have values", False, lines)
    return None


def _unknown_names(description: Description, target: Target) -> list[str]:
    """The table, the action and the control of the description that the program does not have."""
    programs = description.programs
    assert programs is not None
    file = programs.files[target]
    schema = compiled_program(file, target=target).schema()
    found = []
    for key, name, listed in (("table", programs.table, schema.tables), ("action", programs.action, schema.actions)):
        if listed.get(name) is None:
            known = [each.alias for each in listed if each.alias not in OF_ALL_PROGRAMS]
            where = f"{descriptions.place(description.file, 'program', key)}: program.{key}"
            found.append(f"{where}: {file.name}: {unknown_name(key, name, known)}")
    if not found:
        table = schema.tables[programs.table].name.removeprefix("pipe.").split(".")[0]
        control = _capitals(file.name.split(".")[0]) + "Ingress"
        if table != control:
            found.append(
                f"{file}: the control with the rule is {table}; it must be {control}, because the file is {file.name}"
            )
    return found


def _other_defaults(description: Description) -> list[str]:
    """The parameters whose default is not that of the program for v1model, but for those that the command line sets."""
    programs = description.programs
    if programs is None:
        return []
    file = programs.files[Target.V1MODEL]
    built = compiled_program(file)
    table = built.schema().tables[programs.table]
    pipelines = json.loads(built.json.read_text())["pipelines"]
    entry = next(
        (each.get("default_entry") for line in pipelines for each in line["tables"] if each["name"] == table.name), None
    )
    values = [int(value, 16) for value in (entry or {}).get("action_data", ())]
    parameters = [each for each in description.parameters if not each.of_port]
    return [
        f"{descriptions.place(description.file, f'parameters.{each.name}', 'default')}: parameters.{each.name}.default:"
        f" it is {each.default}, but the default_action of {programs.table} in {file.name} has {value}"
        for each, value in zip(parameters, values, strict=False)
        if each.default != value and each.name not in description.settings
    ]


def _capitals(name: str) -> str:
    """A name with a capital at the beginning of each word, without '_'."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


def _sizes(scheme: Scheme, values: Sequence[Sequence[int]]) -> list[str]:
    """A formula of the port without a value, or with one out of its range."""
    kind: Any = scheme.layout
    names = [each.name for each in scheme.description.parameters]
    try:
        for each in values:
            layout = kind(**dict(zip(names, each, strict=True)))
            _ = layout.queue_sizes, layout.calendar, layout.scrr
    except P4schedError as error:
        return [str(error)]
    return []


def _too_narrow(description: Description, target: Target) -> list[str]:
    """The parameters whose largest value does not fit into that of the action."""
    programs = description.programs
    assert programs is not None
    action = compiled_program(programs.files[target], target=target).schema().actions.get(programs.action)
    widths = {parameter.name: parameter.bitwidth for parameter in action.params} if action else {}
    return [
        f"{descriptions.place(description.file, f'parameters.{each.name}', 'range')}: parameters.{each.name}.range:"
        f" {each.maximum} does not fit into the {widths[each.name]} bits of {programs.action} in"
        f" {programs.files[target].name}"
        for each in description.parameters
        if each.maximum >= 2 ** widths.get(each.name, 64)
    ]
