"""Parses the part of P4 that the labs' solutions use: controls, registers, tables of constants.

Each expression and statement holds its place in the text, so that the text can be changed there.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from p4sched.errors import P4schedError

Span = tuple[int, int]
"""Index of the first character, and index after the last."""

TOKEN = re.compile(
    r"(?P<skip>\s+|//[^\n]*|/\*.*?\*/|\#[^\n]*)"
    r"|(?P<number>\d+w(?:0x[0-9a-fA-F]+|\d+)|0x[0-9a-fA-F]+|\d+)"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign>\|-\||\|\+\||<<|<=|>=|==|!=|&&|\|\||\+\+|[-+*/%&|^~!<>=(){}\[\];:,.?])",
    re.DOTALL,
)
LEVELS = (
    ("||",),
    ("&&",),
    ("==", "!="),
    ("<", "<=", ">", ">="),
    ("|",),
    ("^",),
    ("&",),
    ("<<", ">>"),
    ("+", "-", "|-|", "|+|", "++"),
    ("*",),
)
"""Precedence levels of binary operators, the lowest first."""
WHOLE = (0, 0)


@dataclass(frozen=True)
class Type:
    """`bit<width>`, bool (width 0), or a struct (its name)."""

    width: int = 0
    struct: str = ""


BOOL = Type()


@dataclass(frozen=True)
class Expression:
    """An expression, or a part of one."""

    span: Span


@dataclass(frozen=True)
class Number(Expression):
    """A constant; width 0: the width of the context."""

    value: int
    width: int = 0


@dataclass(frozen=True)
class Truth(Expression):
    """`true` or `false`."""

    value: bool


@dataclass(frozen=True)
class Name(Expression):
    """A variable or a field of one: `sizes.size_1`."""

    path: str


@dataclass(frozen=True)
class Unary(Expression):
    """`!a`, `~a`, `-a`."""

    sign: str
    of: Expression


@dataclass(frozen=True)
class Binary(Expression):
    """`a + b`."""

    sign: str
    left: Expression
    right: Expression
    sign_span: Span


@dataclass(frozen=True)
class Cast(Expression):
    """`(bit<32>) a`."""

    to: Type
    of: Expression


@dataclass(frozen=True)
class Choice(Expression):
    """`a ? b : c`."""

    condition: Expression
    then: Expression
    other: Expression


@dataclass(frozen=True)
class Call(Expression):
    """`take.execute(port)`."""

    path: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class Statement:
    span: Span


@dataclass(frozen=True)
class Declare(Statement):
    """A declaration of a variable, with or without a value."""

    type: Type
    name: str
    value: Expression | None


@dataclass(frozen=True)
class Assign(Statement):
    """`a = b;`."""

    to: Name
    value: Expression


@dataclass(frozen=True)
class Do(Statement):
    """A call."""

    call: Call


@dataclass(frozen=True)
class If(Statement):
    """`if (a) {} else {}`. `other_span`: from `else` to the end; empty if there is none."""

    condition: Expression
    then: "Block"
    other: Statement | None
    other_span: Span


@dataclass(frozen=True)
class Block(Statement):
    """`{ ... }`."""

    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a control or an action."""

    way: str
    """"in", "out", "inout" or ""."""
    type: Type
    name: str


@dataclass(frozen=True)
class Register:
    """A register."""

    cell: Type


@dataclass(frozen=True)
class Access:
    """A RegisterAction."""

    register: str
    parameters: tuple[Parameter, ...]
    body: Block


@dataclass(frozen=True)
class Action:
    """An action of a table."""

    body: Block


@dataclass(frozen=True)
class Row:
    """A constant entry. A key that is None matches all values."""

    span: Span
    keys: tuple[Number | None, ...]
    action: str


@dataclass(frozen=True)
class Table:
    """A table of constant entries; the first match counts."""

    keys: tuple[Expression, ...]
    rows: tuple[Row, ...]
    default: str


@dataclass
class Control:
    """A control block."""

    name: str
    parameters: tuple[Parameter, ...]
    instances: dict[str, str] = field(default_factory=dict)
    """Control of each instance, by name."""
    variables: dict[str, Type] = field(default_factory=dict)
    registers: dict[str, Register] = field(default_factory=dict)
    accesses: dict[str, Access] = field(default_factory=dict)
    actions: dict[str, Action] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    body: Block = Block(WHOLE, ())


@dataclass
class File:
    """Declarations of a file."""

    structs: dict[str, dict[str, Type]] = field(default_factory=dict)
    registers: dict[str, Register] = field(default_factory=dict)
    constants: dict[str, Number] = field(default_factory=dict)
    controls: dict[str, Control] = field(default_factory=dict)


@dataclass(frozen=True)
class Token:
    """A word of the text."""

    text: str
    span: Span


def tokens(text: str) -> Iterator[Token]:
    """The words, without comments and lines of the preprocessor."""
    at = 0
    while at < len(text):
        found = TOKEN.match(text, at)
        if found is None:
            raise P4schedError(f"line {text.count(chr(10), 0, at) + 1}: '{text[at : at + 10]}' is not known here")
        if found.lastgroup != "skip":
            yield Token(found[0], found.span())
        at = found.end()


def parse(text: str, known: File | None = None) -> File:
    """Declarations of a file. `known`: declarations of the files that it includes.

    Raises:
        P4schedError: the text has a construct that this parser does not support.
    """
    return _Parser(text, known or File()).file()


class _Parser:
    def __init__(self, text: str, known: File) -> None:
        self._text = text
        self._tokens = list(tokens(text))
        self._at = 0
        self._file = File(dict(known.structs), dict(known.registers), dict(known.constants), dict(known.controls))

    # words

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._tokens[at].text if at < len(self._tokens) else ""

    def _next(self) -> Token:
        if self._at >= len(self._tokens):
            raise P4schedError("the file ends within a declaration or statement")
        self._at += 1
        return self._tokens[self._at - 1]

    def _take(self, text: str) -> bool:
        if self._peek() != text:
            return False
        self._at += 1
        return True

    def _expect(self, *texts: str) -> None:
        for text in texts:
            if not self._take(text):
                place = self._tokens[min(self._at, len(self._tokens) - 1)].span[0]
                line = self._text.count("\n", 0, place) + 1
                raise P4schedError(f"line {line}: '{text}' expected, not '{self._peek()}'")

    def _begin(self) -> int:
        return self._tokens[min(self._at, len(self._tokens) - 1)].span[0]

    def _span(self, begin: int) -> Span:
        return begin, self._tokens[self._at - 1].span[1]

    # declarations

    def file(self) -> File:
        while self._peek():
            match self._peek():
                case "struct":
                    self._struct()
                case "const":
                    self._constant()
                case "register":
                    name, register = self._register()
                    self._file.registers[name] = register
                case _:
                    self._expect("control")
                    control = self._control()
                    self._file.controls[control.name] = control
        return self._file

    def _struct(self) -> None:
        self._expect("struct")
        name, fields = self._next().text, {}
        self._expect("{")
        while not self._take("}"):
            kind = self._type()
            fields[self._next().text] = kind
            self._expect(";")
        self._file.structs[name] = fields

    def _constant(self) -> None:
        self._expect("const")
        kind, name = self._type(), self._next().text
        self._expect("=")
        token = self._next()
        self._file.constants[name] = Number(token.span, int(token.text, 0), kind.width)
        self._expect(";")

    def _type(self) -> Type:
        name = self._next().text
        if name == "bool":
            return BOOL
        if name != "bit":
            return Type(struct=name)
        self._expect("<")
        width = int(self._next().text)
        self._close()
        return Type(width)

    def _close(self) -> None:
        """Reads a `>`. The words do not contain `>>`."""
        self._expect(">")

    def _register(self) -> tuple[str, Register]:
        self._next()
        self._expect("<")
        cell = self._type()
        if self._take(","):
            self._type()
        self._close()
        self._expect("(")
        while not self._take(")"):
            self._next()
        name = self._next().text
        self._expect(";")
        return name, Register(cell)

    def _parameters(self) -> tuple[Parameter, ...]:
        found = []
        self._expect("(")
        while not self._take(")"):
            way = self._next().text if self._peek() in {"in", "out", "inout"} else ""
            kind = self._type()
            found.append(Parameter(way, kind, self._next().text))
            self._take(",")
        return tuple(found)

    def _control(self) -> Control:
        control = Control(self._next().text, self._parameters())
        self._expect("{")
        while not self._take("apply"):
            self._local(control)
        control.body = self._block()
        self._expect("}")
        return control

    def _local(self, control: Control) -> None:
        match self._peek():
            case "register" | "Register":
                name, register = self._register()
                control.registers[name] = register
            case "RegisterAction":
                name, access = self._access()
                control.accesses[name] = access
            case "action":
                self._next()
                name = self._next().text
                self._expect("(", ")")
                control.actions[name] = Action(self._block())
            case "table":
                self._next()
                name = self._next().text
                control.tables[name] = self._table()
            case "bit" | "bool":
                declared = self._declare()
                control.variables[declared.name] = declared.type
            case _:
                kind = self._next().text
                self._expect("(", ")")
                control.instances[self._next().text] = kind
                self._expect(";")

    def _access(self) -> tuple[str, Access]:
        self._expect("RegisterAction", "<")
        while not self._take("("):
            self._next()
        register = self._next().text
        self._expect(")")
        name = self._next().text
        self._expect("=", "{", "void", "apply")
        access = Access(register, self._parameters(), self._block())
        self._expect("}", ";")
        return name, access

    def _table(self) -> Table:
        keys: list[Expression] = []
        rows: list[Row] = []
        default = ""
        self._expect("{")
        while not self._take("}"):
            self._take("const")
            what = self._next().text
            self._expect("=")
            if what == "default_action":
                default = self._next().text
                self._expect("(", ")", ";")
                continue
            self._expect("{")
            while not self._take("}"):
                match what:
                    case "key":
                        keys.append(self._expression())
                        self._expect(":")
                        self._next()
                        self._expect(";")
                    case "entries":
                        rows.append(self._row())
                    case _:
                        self._next()
        return Table(tuple(keys), tuple(rows), default)

    def _row(self) -> Row:
        begin = self._begin()
        self._expect("(")
        values: list[Number | None] = []
        while not self._take(")"):
            token = self._next()
            values.append(None if token.text == "_" else Number(token.span, int(token.text, 0)))
            self._take(",")
        self._expect(":")
        action = self._next().text
        self._expect("(", ")", ";")
        return Row(self._span(begin), tuple(values), action)

    # statements

    def _block(self) -> Block:
        begin = self._begin()
        self._expect("{")
        body = []
        while not self._take("}"):
            body.append(self._statement())
        return Block(self._span(begin), tuple(body))

    def _declare(self) -> Declare:
        begin = self._begin()
        kind, name = self._type(), self._next().text
        value = self._expression() if self._take("=") else None
        self._expect(";")
        return Declare(self._span(begin), kind, name, value)

    def _statement(self) -> Statement:
        begin = self._begin()
        match self._peek():
            case "{":
                return self._block()
            case "if":
                return self._if()
            case "bit" | "bool":
                return self._declare()
        place = self._path()
        if self._take("="):
            value = self._expression()
            self._expect(";")
            return Assign(self._span(begin), place, value)
        call = self._call(place)
        self._expect(";")
        return Do(self._span(begin), call)

    def _if(self) -> If:
        begin = self._begin()
        self._expect("if", "(")
        condition = self._expression()
        self._expect(")")
        then = self._block()
        other, other_begin = None, self._begin()
        if self._take("else"):
            other = self._if() if self._peek() == "if" else self._block()
        span = self._span(begin)
        return If(span, condition, then, other, (other_begin, span[1]) if other else (span[1], span[1]))

    # expressions

    def _path(self) -> Name:
        begin = self._begin()
        path = self._next().text
        while self._take("."):
            path += f".{self._next().text}"
        return Name(self._span(begin), path)

    def _call(self, place: Name) -> Call:
        self._expect("(")
        arguments = []
        while not self._take(")"):
            arguments.append(self._expression())
            self._take(",")
        return Call(self._span(place.span[0]), place.path, tuple(arguments))

    def _expression(self) -> Expression:
        begin = self._begin()
        condition = self._binary(0)
        if not self._take("?"):
            return condition
        then = self._expression()
        self._expect(":")
        return Choice(self._span(begin), condition, then, self._expression())

    def _sign(self, level: int) -> Token | None:
        """The next operator, if it has this level. Two adjacent `>` are `>>`."""
        token = self._tokens[self._at] if self._at < len(self._tokens) else Token("", WHOLE)
        shifts = token.text == ">" and self._peek(1) == ">" and self._tokens[self._at + 1].span[0] == token.span[1]
        text = ">>" if shifts else token.text
        if text not in LEVELS[level]:
            return None
        self._at += 2 if shifts else 1
        return Token(text, (token.span[0], token.span[0] + len(text)))

    def _binary(self, level: int) -> Expression:
        if level == len(LEVELS):
            return self._unary()
        begin = self._begin()
        left = self._binary(level + 1)
        while (sign := self._sign(level)) is not None:
            right = self._binary(level + 1)
            left = Binary(self._span(begin), sign.text, left, right, sign.span)
        return left

    def _unary(self) -> Expression:
        begin = self._begin()
        if self._peek() in {"!", "~", "-"}:
            sign = self._next().text
            of = self._unary()
            return Unary(self._span(begin), sign, of)
        if self._peek() == "(" and self._peek(1) == "bit":
            self._expect("(")
            to = self._type()
            self._expect(")")
            of = self._unary()
            return Cast(self._span(begin), to, of)
        return self._primary()

    def _primary(self) -> Expression:
        begin = self._begin()
        word = self._peek()
        if self._take("("):
            inner = self._expression()
            self._expect(")")
            return _spanned(inner, self._span(begin))
        if word in {"true", "false"}:
            return Truth(self._next().span, word == "true")
        if word[:1].isdigit():
            width, _, value = self._next().text.rpartition("w")
            return Number(self._span(begin), int(value, 0), int(width or 0))
        place = self._path()
        return self._call(place) if self._peek() == "(" else place


def _spanned(expression: Expression, span: Span) -> Expression:
    """The expression with the span of its parentheses."""
    return type(expression)(**{**vars(expression), "span": span})
