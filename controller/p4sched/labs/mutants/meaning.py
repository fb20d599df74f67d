"""Effect of a control on one packet, as terms of Z3: symbolic execution.

Variables are 0 at the start of a packet, as in BMv2. An `out` parameter begins with the value of its argument. A
condition joins both branches into one term, so there is only one path.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import z3

from p4sched.errors import P4schedError
from p4sched.labs.mutants.scope import COMPARES, JOINS, Scope
from p4sched.labs.mutants.syntax import (
    BOOL,
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Choice,
    Control,
    Declare,
    Do,
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

Store = dict[str, Any]
"""Terms of variables and registers by name, with the instance: `average.start`."""
Outside = Callable[[Store, Sequence[Any]], Any]
"""A control that is not in the file: computes the value of the last argument from all arguments."""
INDEX = 32
"""Bits of the index of a register."""


@dataclass
class Meaning:
    """The execution of a file. `outside`: controls that are not in the file."""

    file: File
    outside: dict[str, Outside] = field(default_factory=dict)

    def run(self, control: str, arguments: dict[str, Any], store: Store) -> Store:
        """The store after the packet. `arguments` are the terms of the parameters by name.

        `store`: the contents of registers (`bounds`, `average.last_rate`). Missing entries are 0.
        """
        after = dict(store)
        _Frame(self, self.file.controls[control], "").call(after, arguments)
        return after

    def registers(self, control: str, path: str = "") -> dict[str, Type]:
        """Names of all registers below a control, and their cells."""
        found: dict[str, Type] = {name: one.cell for name, one in self.file.registers.items()} if not path else {}
        of = self.file.controls[control]
        found |= {f"{path}{name}": one.cell for name, one in of.registers.items()}
        for name, kind in of.instances.items():
            if kind in self.file.controls:
                found |= self.registers(kind, f"{path}{name}.")
        return found

    def cells(self, name: str, cell: Type) -> dict[str, int]:
        """Arrays of a register, each with its width: a struct has one array for each field."""
        if not cell.struct:
            return {name: cell.width}
        return {f"{name}.{part}": kind.width for part, kind in self.file.structs[cell.struct].items()}


def array(name: str, width: int) -> Any:
    """Content of a register, with any values."""
    return z3.Array(name, z3.BitVecSort(INDEX), z3.BitVecSort(width))


def resize(term: Any, width: int) -> Any:
    """The term with another width: cut, or with leading zeros."""
    if term.size() > width:
        return z3.Extract(width - 1, 0, term)
    return z3.ZeroExt(width - term.size(), term) if term.size() < width else term


class _Frame:
    """A control (or an action in it) under execution."""

    def __init__(
        self,
        meaning: Meaning,
        control: Control,
        path: str,
        scope: Scope | None = None,
        inner: dict[str, str] | None = None,
    ) -> None:
        """`inner`: names of an action's parameters, and the keys of their values in the store."""
        self._meaning, self._control, self._path = meaning, control, path
        self._scope = scope or Scope.of(meaning.file, control)
        self._inner = inner or {}

    def call(self, store: Store, arguments: dict[str, Any]) -> None:
        """Executes the control with these values of its parameters; missing values are 0."""
        for parameter in self._control.parameters:
            for name, kind in self._fields(parameter):
                given = arguments.get(name)
                store[self._path + name] = z3.BitVecVal(0, kind.width) if given is None else given
        self._block(store, self._control.body)

    def _fields(self, parameter: Parameter) -> list[tuple[str, Type]]:
        prefix = f"{parameter.name}."
        if not parameter.type.struct:
            return [(parameter.name, parameter.type)]
        return [(name, kind) for name, kind in self._scope.names.items() if name.startswith(prefix) and not kind.struct]

    # statements

    def _block(self, store: Store, block: Block) -> None:
        for statement in block.body:
            self._statement(store, statement)

    def _statement(self, store: Store, statement: Statement) -> None:
        match statement:
            case Block():
                self._block(store, statement)
            case Declare():
                if statement.value is not None:
                    store[self._path + statement.name] = self._value(store, statement.value, statement.type.width)
            case Assign():
                store[self._key(statement.to.path)] = self._value(
                    store, statement.value, self._type(statement.to).width
                )
            case If():
                self._branch(
                    store,
                    self._truth(store, statement.condition),
                    lambda then: self._block(then, statement.then),
                    lambda other: self._optional(other, statement.other),
                )
            case Do():
                self._do(store, statement.call)

    def _optional(self, store: Store, statement: Statement | None) -> None:
        if statement is not None:
            self._statement(store, statement)

    def _branch(
        self, store: Store, condition: Any, then: Callable[[Store], Any], other: Callable[[Store], Any]
    ) -> None:
        first, second = dict(store), dict(store)
        then(first)
        other(second)
        for key in first.keys() | second.keys():
            one, two = first.get(key), second.get(key)
            if one is None or two is None:
                held = one if one is not None else two
                zero = _zero_like(held)
                one, two = (zero if one is None else one), (zero if two is None else two)
            store[key] = one if one is two or one.eq(two) else z3.If(condition, one, two)

    def _do(self, store: Store, call: Call) -> None:
        owner, _, method = call.path.rpartition(".")
        if not owner:
            self._block(store, self._control.actions[call.path].body)
        elif owner in self._control.accesses:
            self._access(store, owner, call)
        elif owner in self._control.tables:
            self._table(store, owner)
        elif method == "read":
            to, at = call.arguments
            assert isinstance(to, Name)
            store[self._key(to.path)] = self._read(store, owner, self._index(store, at))
        elif method == "write":
            at, value = call.arguments
            name = self._register(owner)
            written = self._value(store, value, self._width_of(owner))
            store[name] = z3.Store(self._array(store, name, owner), self._index(store, at), written)
        else:
            self._apply(store, owner, call)

    def _apply(self, store: Store, instance: str, call: Call) -> None:
        kind = self._control.instances[instance]
        if kind in self._meaning.outside:
            given = [self._value(store, argument, None) for argument in call.arguments[:-1]]
            to = call.arguments[-1]
            assert isinstance(to, Name)
            store[self._key(to.path)] = self._meaning.outside[kind](store, given)
            return
        control = self._meaning.file.controls[kind]
        frame = _Frame(self._meaning, control, f"{self._path}{instance}.")
        given_in: dict[str, Any] = {}
        for parameter, argument in zip(control.parameters, call.arguments, strict=True):
            for name, of in frame._fields(parameter):
                if parameter.type.struct:
                    assert isinstance(argument, Name)
                    field_of = name.removeprefix(f"{parameter.name}.")
                    given_in[name] = self._variable(store, f"{argument.path}.{field_of}", of.width)
                else:
                    given_in[name] = self._value(store, argument, of.width)
        frame.call(store, given_in)
        for parameter, argument in zip(control.parameters, call.arguments, strict=True):
            if parameter.way in {"out", "inout"}:
                assert isinstance(argument, Name)
                store[self._key(argument.path)] = store[f"{frame._path}{parameter.name}"]

    def _access(self, store: Store, name: str, call: Call) -> Any:
        """Executes a RegisterAction; returns its result, if it has one."""
        access = self._control.accesses[name]
        register = self._register(access.register)
        index = self._index(store, call.arguments[0])
        cell = self._control.registers[access.register].cell
        here = f"{self._path}{name}."
        cells = self._meaning.cells(register, cell)
        inner: dict[str, str] = {}
        for parameter in access.parameters:
            inner[parameter.name] = here + parameter.name
        place = access.parameters[0].name
        for part, width in cells.items():
            store[here + place + part.removeprefix(register)] = z3.Select(self._array_of(store, part, width), index)
        if len(access.parameters) > 1:
            store[here + access.parameters[1].name] = z3.BitVecVal(0, access.parameters[1].type.width)
        scope = Scope.of(self._meaning.file, self._control, access.parameters)
        _Frame(self._meaning, self._control, self._path, scope, inner)._block(store, access.body)
        for part, width in cells.items():
            value = store[here + place + part.removeprefix(register)]
            store[part] = z3.Store(self._array_of(store, part, width), index, value)
        return store[here + access.parameters[1].name] if len(access.parameters) > 1 else None

    def _table(self, store: Store, name: str) -> None:
        table = self._control.tables[name]

        def from_row(number: int, store: Store) -> None:
            if number == len(table.rows):
                self._act(store, table.default)
                return
            row = table.rows[number]
            fits = [
                self._value(store, key, None) == value.value
                for key, value in zip(table.keys, row.keys, strict=True)
                if value is not None
            ]
            self._branch(
                store,
                z3.And(*fits) if fits else z3.BoolVal(True),
                lambda then: self._act(then, row.action),
                lambda other: from_row(number + 1, other),
            )

        from_row(0, store)

    def _act(self, store: Store, name: str) -> None:
        if name != "NoAction":
            self._block(store, self._control.actions[name].body)

    # registers

    def _register(self, name: str) -> str:
        return f"{self._path}{name}" if name in self._control.registers else name

    def _width_of(self, name: str) -> int:
        register = self._control.registers.get(name) or self._meaning.file.registers[name]
        return register.cell.width

    def _array(self, store: Store, path: str, name: str) -> Any:
        return self._array_of(store, path, self._width_of(name))

    def _array_of(self, store: Store, path: str, width: int) -> Any:
        if path not in store:
            store[path] = z3.K(z3.BitVecSort(INDEX), z3.BitVecVal(0, width))
        return store[path]

    def _index(self, store: Store, at: Expression) -> Any:
        return resize(self._value(store, at, INDEX), INDEX)

    def _read(self, store: Store, name: str, at: Any) -> Any:
        return z3.Select(self._array(store, self._register(name), name), at)

    # expressions

    def _key(self, path: str) -> str:
        first, dot, rest = path.partition(".")
        return f"{self._inner[first]}{dot}{rest}" if first in self._inner else self._path + path

    def _type(self, expression: Expression) -> Type:
        kind = self._scope.type_of(expression)
        if kind is None:
            raise P4schedError(f"no type: {expression}")
        return kind

    def _variable(self, store: Store, path: str, width: int) -> Any:
        key = self._key(path)
        if key not in store:
            store[key] = z3.BitVecVal(0, width)
        return store[key]

    def _truth(self, store: Store, expression: Expression) -> Any:
        return self._value(store, expression, None)

    def _value(self, store: Store, expression: Expression, width: int | None) -> Any:  # noqa: PLR0911 one for each kind
        """The term of an expression. `width`: the width of a number without one."""
        match expression:
            case Number():
                bits = expression.width or width
                if bits is None:
                    raise P4schedError(f"a number without a width: {expression.value}")
                return z3.BitVecVal(expression.value, bits)
            case Truth():
                return z3.BoolVal(expression.value)
            case Name():
                constant = self._meaning.file.constants.get(expression.path)
                if constant is not None:
                    return z3.BitVecVal(constant.value, constant.width)
                return self._variable(store, expression.path, self._type(expression).width)
            case Unary(sign="!"):
                return z3.Not(self._truth(store, expression.of))
            case Unary():
                value = self._value(store, expression.of, width)
                return ~value if expression.sign == "~" else -value
            case Cast():
                return resize(self._value(store, expression.of, expression.to.width), expression.to.width)
            case Choice():
                return z3.If(
                    self._truth(store, expression.condition),
                    self._value(store, expression.then, width),
                    self._value(store, expression.other, width),
                )
            case Call():
                return self._access(store, expression.path.split(".")[0], expression)
            case Binary():
                return self._binary(store, expression, width)
        raise P4schedError(f"not known: {expression}")

    def _binary(self, store: Store, expression: Binary, width: int | None) -> Any:
        sign = expression.sign
        if sign in JOINS:
            left, right = self._truth(store, expression.left), self._truth(store, expression.right)
            return z3.And(left, right) if sign == "&&" else z3.Or(left, right)
        kind = self._scope.type_of(expression.left) or self._scope.type_of(expression.right)
        if sign in COMPARES and kind == BOOL:
            left, right = self._truth(store, expression.left), self._truth(store, expression.right)
            return left == right if sign == "==" else left != right
        bits = kind.width if kind is not None and kind.width else width
        if sign in {"<<", ">>"}:
            own = self._scope.type_of(expression.left)
            left = self._value(store, expression.left, own.width if own else width)
            by = self._value(store, expression.right, left.size())
            by = resize(by, left.size()) if by.size() <= left.size() else by
            return left << by if sign == "<<" else z3.LShR(left, by)
        if sign == "++":
            return z3.Concat(self._value(store, expression.left, None), self._value(store, expression.right, None))
        left, right = self._value(store, expression.left, bits), self._value(store, expression.right, bits)
        return OPERATIONS[sign](left, right)


def _saturating_sum(left: Any, right: Any) -> Any:
    total = left + right
    return z3.If(z3.ULT(total, left), z3.BitVecVal(-1, left.size()), total)


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<": z3.ULT,
    "<=": z3.ULE,
    ">": z3.UGT,
    ">=": z3.UGE,
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "&": lambda left, right: left & right,
    "|": lambda left, right: left | right,
    "^": lambda left, right: left ^ right,
    "|-|": lambda left, right: z3.If(z3.ULT(left, right), z3.BitVecVal(0, left.size()), left - right),
    "|+|": _saturating_sum,
}


def _zero_like(term: Any) -> Any:
    if z3.is_array(term):
        return z3.K(term.domain(), z3.BitVecVal(0, term.range().size()))
    return z3.BitVecVal(0, term.size()) if z3.is_bv(term) else z3.BoolVal(False)
