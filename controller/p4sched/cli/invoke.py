"""Runs one command line in this process."""

import errno
from collections.abc import Sequence
from typing import Any

import typer
from typer.exceptions import TyperException

from p4sched.errors import INTERRUPTED, P4schedError

FULL = (errno.ENOSPC, errno.EDQUOT)
"""Errors of a full disk."""


def invoke(command: Any, arguments: Sequence[str]) -> tuple[int, str]:
    """Runs one command line; returns the exit code, and the error message or an empty string."""
    try:
        result = command(list(arguments), prog_name="p4sched", standalone_mode=False)
    except TyperException as error:
        # typer's own errors: a missing argument, an unknown option, a value of the wrong type
        return error.exit_code, error.format_message()
    except P4schedError as error:
        return error.exit_code, str(error)
    except OSError as error:
        if error.errno not in FULL:
            raise
        return 1, f"{error.filename or 'output'}: cannot write: {error.strerror}"
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED, "interrupted"
    # typer turns Ctrl-C within a command into this result
    return (result if isinstance(result, int) else 0), "interrupted" if result == INTERRUPTED else ""
