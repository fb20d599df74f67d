"""Shared parts of all commands: words of a line, and errors in BMv2's words."""

import cmd
import os
from collections.abc import Sequence

from thriftpy2.thrift import TApplicationException, TDecodeException, TException

from p4sched.bmv2.connection import Services, refusal
from p4sched.bmv2.program import InputError, NamedObjects, Profile, Program, Table
from p4sched.bmv2.values import MatchKeyError, ParameterError, integer

CONTEXT = 0
"""The switch has one context."""


def words(line: str, count: int) -> list[str]:
    """Splits a line into exactly `count` words."""
    parts = line.split()
    if len(parts) != count:
        raise InputError(f"Wrong number of args, expected {count} but got {len(parts)}")
    return parts


def at_least(line: str, count: int) -> list[str]:
    """Splits a line into `count` or more words."""
    parts = line.split()
    if len(parts) < count:
        raise InputError("Insufficient number of args")
    return parts


def handle(word: str, what: str) -> int:
    """Parses the handle of an entry, a member, a group or a node."""
    try:
        return int(word)
    except ValueError:
        raise InputError(f"Bad format for {what}") from None


def split_at_arrow(parts: Sequence[str]) -> tuple[list[str], list[str]]:
    """Returns the words before `=>` and the words after it."""
    if "=>" not in parts:
        raise InputError("Could not find '=>' between match fields and what they lead to")
    place = parts.index("=>")
    return list(parts[:place]), list(parts[place + 1 :])


def complaint(error: InputError | OverflowError | TException) -> str | None:
    """Message for a wrong line or for an error of the switch; None for any other error."""
    match error:
        case MatchKeyError():
            return f"Invalid match key: {error}"
        case ParameterError():
            return f"Invalid runtime data: {error}"
        case InputError():
            return f"Error: {error}"
        case OverflowError() | TDecodeException():
            return f"Error: number out of range: {getattr(error, 'value', error)}"
        case TApplicationException():
            return f"Error: {error.message}"
        case _:
            return refusal(error)


class BaseCommands(cmd.Cmd):
    """Runs lines one by one. Prints the error of a wrong line and continues with the next."""

    prompt = "RuntimeCmd: "

    def __init__(self, services: Services, program: Program) -> None:
        super().__init__()
        self.standard, self.multicast, self.switch = services
        self.program = program

    def onecmd(self, line: str) -> bool:
        """Runs one line; prints its error, if any."""
        try:
            return super().onecmd(line)
        except (InputError, OverflowError, TException) as error:
            message = complaint(error)
            if message is None:
                raise
            print(message)
        return False

    def emptyline(self) -> bool:
        return False

    def do_EOF(self, _: str) -> bool:  # noqa: N802 - its name
        """Ends the session: Ctrl-D."""
        print()
        return True

    def do_shell(self, line: str) -> None:
        """Run a shell command: ! <command>."""
        print(os.popen(line).read())

    def _table(self, name: str) -> Table:
        return self.program.tables.get(name)

    def _indirect_table(self, name: str, *, with_selector: bool = False) -> tuple[Table, Profile]:
        table = self._table(name)
        if table.profile is None:
            raise InputError("Cannot run this command on non-indirect table")
        if with_selector and not table.with_selector:
            raise InputError("Cannot run this command on non-indirect table, or on indirect table with no selector")
        return table, table.profile

    def _priority(self, table: Table, parts: list[str]) -> int:
        """Takes the priority off the end of the words, where the table has priorities."""
        if not table.by_priority:
            return 0
        try:
            return int(parts.pop())
        except (ValueError, IndexError):
            raise InputError("Table is ternary, but could not extract a valid priority from args") from None

    def completenames(self, text: str, *ignored: object) -> list[str]:
        """Commands that begin with `text`."""
        return [name for name in super().completenames(text, *ignored) if name != "EOF"]

    def _complete_with_action(
        self, things: NamedObjects[Table] | NamedObjects[Profile], text: str, line: str
    ) -> list[str]:
        """Completes `COMMAND NAME ACTION`."""
        parts = line.split()
        complete = len(parts) - (1 if text else 0)
        if complete == 1:
            return things.completions(text)
        if complete != 2:
            return []
        try:
            actions = things.get(parts[1]).actions
        except InputError:
            return []
        return [name for name in sorted(actions) if name.startswith(text)]


__all__ = ["CONTEXT", "BaseCommands", "at_least", "complaint", "handle", "integer", "split_at_arrow", "words"]
