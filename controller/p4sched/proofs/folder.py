"""Loads rules in exact integers, for proofs."""

from typing import Any, TypeVar

from p4sched.errors import P4schedError, UsageError
from p4sched.folders.description import FILE
from p4sched.folders.modules import ModelError
from p4sched.folders.modules import load as load_module
from p4sched.folders.schemes import find
from p4sched.p4rt.target import Target
from p4sched.proofs.program import Program
from p4sched.proofs.rules import RULES
from p4sched.proofs.rules.scheme import Rule
from p4sched.proofs.rules.tna import RULES as CHIP_RULES
from p4sched.proofs.rules.tna_scheme import OnChip
from p4sched.scheme import Scheme
from p4sched.schemes import SCHEMES

Kind = TypeVar("Kind", bound=Rule)


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
    if name in RULES:
        return RULES[name]()
    scheme = SCHEMES[name]
    described = scheme.description.proof
    rule: Rule = _class(scheme, described.name if described else "", Rule)()
    return _placed(rule, scheme, program)


def chip_rule_of(name: str, program: Program, target: Target) -> OnChip:
    """The rule of a scheme for a Tofino, for a program.

    Raises:
        UsageError: there is none.
        ModelError: the file of the rule cannot be loaded, or it has no such class.
    """
    if name in CHIP_RULES:
        return CHIP_RULES[name](target)
    scheme = SCHEMES[name]
    described = scheme.description.proof
    if described is None or described.on_chip is None:
        raise UsageError(
            f"--on {target}: there is no rule of {name} for a Tofino; use one of: {', '.join(_with_chip_rule())}"
        )
    rule: OnChip = _class(scheme, described.on_chip, OnChip)(target)
    return _placed(rule, scheme, program)


def _with_chip_rule() -> list[str]:
    """Schemes that have a rule for a Tofino."""
    proofs = {name: of.description.proof for name, of in SCHEMES.items()}
    return [*CHIP_RULES, *(name for name, proof in proofs.items() if proof is not None and proof.on_chip is not None)]


def _class(scheme: Scheme, name: str, kind: Any) -> Any:
    """A class in the file of a folder's rule; `kind`: its base."""
    described, programs = scheme.description.proof, scheme.description.programs
    if described is None or programs is None:
        raise UsageError(f"{scheme.description.file}: a proof needs [program] and [proof]")
    found: Any = getattr(load_module(described.file), name, None)
    is_rule = isinstance(found, type) and issubclass(found, kind)
    if not is_rule:
        raise ModelError(f"{described.file}: there is no class {name}({kind.__name__})")
    if abstract := sorted(found.__abstractmethods__):
        raise ModelError(f"{described.file}: {name} lacks the method {abstract[0]}")
    return found


def _placed(rule: Kind, scheme: Scheme, program: Program) -> Kind:
    """The rule, with the names of the program's control, table and action."""
    programs = scheme.description.programs
    assert programs is not None
    controls = [table.rpartition(".")[0] for table in program.tables if table.endswith(f".{programs.table}")]
    if not controls:
        raise P4schedError(f"{program.name}: no table '{programs.table}'; the rule needs it")
    rule.control, rule.table, rule.action = controls[0], programs.table, programs.action
    return rule
