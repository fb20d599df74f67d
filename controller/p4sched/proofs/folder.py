"""Loads rules in exact integers, for proofs."""

from p4sched.errors import P4schedError, UsageError
from p4sched.folders.description import FILE
from p4sched.folders.modules import ModelError
from p4sched.folders.modules import load as load_module
from p4sched.folders.schemes import find
from p4sched.proofs.program import Program
from p4sched.proofs.rules import RULES
from p4sched.proofs.rules.scheme import Rule
from p4sched.scheme import Scheme
from p4sched.schemes import SCHEMES


def scheme_with_rule(word: str) -> str:
    """Name of the scheme that a word of a command line names; it has a rule.

    Raises:
        UsageError: there is none.
    """
    name = find(word, RULES, "rule")
    description = SCHEMES[name].description
    if name not in RULES and description.proof is None:
        raise UsageError(f"{description.folder / FILE}: there is no [proof], which names the file of the rule")
    return name


def rule_of(name: str, program: Program) -> Rule:
    """The rule of a scheme, for a program.

    Raises:
        ModelError: the file of the rule cannot be loaded, or it has no such class.
    """
    return RULES[name]() if name in RULES else _of_folder(SCHEMES[name], program)


def _of_folder(scheme: Scheme, program: Program) -> Rule:
    described, programs = scheme.description.proof, scheme.description.programs
    if described is None or programs is None:
        raise UsageError(f"{scheme.description.file}: a proof needs [program] and [proof]")
    found = getattr(load_module(described.file), described.name, None)
    if not (isinstance(found, type) and issubclass(found, Rule)):
        raise ModelError(f"{described.file}: there is no class {described.name}(Rule)")
    if abstract := sorted(found.__abstractmethods__):
        raise ModelError(f"{described.file}: {described.name} lacks the method {abstract[0]}")
    controls = [table.rpartition(".")[0] for table in program.tables if table.endswith(f".{programs.table}")]
    if not controls:
        raise P4schedError(f"{program.name}: no table '{programs.table}'; the rule needs it")
    rule: Rule = found()
    rule.control, rule.table, rule.action = controls[0], programs.table, programs.action
    return rule
