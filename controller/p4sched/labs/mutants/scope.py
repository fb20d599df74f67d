"""Types of the names in a control."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from p4sched.labs.mutants.syntax import (
    BOOL,
    Binary,
    Block,
    Call,
    Cast,
    Choice,
    Control,
    Declare,
    Expression,
    File,
    If,
    Name,
    Number,
    Parameter,
    Statement,
    Truth,
    Type,
    Unary,
)

COMPARES = {"==", "!=", "<", "<=", ">", ">="}
JOINS = {"&&", "||"}
SHIFTS = {"<<", ">>"}
UNKNOWN: Mapping[str, int] = {
    "meta.user": 16,
    "meta.scale": 16,
    "standard_metadata.packet_length": 32,
    "standard_metadata.ingress_global_timestamp": 48,
}
"""Widths of the header and metadata fields that the solutions read."""


@dataclass(frozen=True)
class Scope:
    """The names in the scope of a body."""

    file: File
    names: Mapping[str, Type]
    control: Control

    @staticmethod
    def of(file: File, control: Control, parameters: tuple[Parameter, ...] = ()) -> "Scope":
        """Scope of the body of a control, or of an action with these parameters in it."""
        names: dict[str, Type] = {}
        for parameter in (*control.parameters, *parameters):
            names |= _fields(file, parameter.name, parameter.type)
        names |= control.variables
        names |= {name: Type(width) for name, width in UNKNOWN.items() if name.split(".")[0] in names}
        for statement in inside(control.body):
            if isinstance(statement, Declare):
                names[statement.name] = statement.type
        return Scope(file, names, control)

    def type_of(self, expression: Expression) -> Type | None:  # noqa: PLR0911 one for each kind
        """Type of an expression; None: a number that takes its type from the context, or an unknown type."""
        match expression:
            case Number():
                return Type(expression.width) if expression.width else None
            case Truth():
                return BOOL
            case Name():
                constant = self.file.constants.get(expression.path)
                return Type(constant.width) if constant else self.names.get(expression.path)
            case Unary():
                return BOOL if expression.sign == "!" else self.type_of(expression.of)
            case Cast():
                return expression.to
            case Choice():
                return self.type_of(expression.then) or self.type_of(expression.other)
            case Binary():
                return self._of_binary(expression)
            case Call():
                access = self.control.accesses.get(expression.path.split(".")[0])
                return access.parameters[-1].type if access else None
        return None

    def _of_binary(self, expression: Binary) -> Type | None:
        if expression.sign in COMPARES | JOINS:
            return BOOL
        left, right = self.type_of(expression.left), self.type_of(expression.right)
        if expression.sign in SHIFTS:
            return left
        if expression.sign == "++":
            return Type(left.width + right.width) if left and right else None
        return left or right


def _fields(file: File, name: str, of: Type) -> dict[str, Type]:
    """The variable, or the fields of a struct of the file."""
    if not of.struct:
        return {name: of}
    found = {name: of}
    for field, kind in file.structs.get(of.struct, {}).items():
        found |= _fields(file, f"{name}.{field}", kind)
    return found


def inside(statement: Statement) -> Iterator[Statement]:
    """The statement and all statements inside it."""
    yield statement
    match statement:
        case Block():
            for one in statement.body:
                yield from inside(one)
        case If():
            yield from inside(statement.then)
            if statement.other is not None:
                yield from inside(statement.other)
