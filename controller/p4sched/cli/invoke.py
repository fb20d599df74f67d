"""Runs one command line in this process."""

import errno
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer
from typer.exceptions import TyperException

from p4sched.errors import INTERRUPTED, P4schedError
from p4sched.paths import DATA_DIR, INSTALLED, SETUP, in_repository

PACKAGES = {"experiments", "mininet_topos", "p4sched"}
"""The packages of an installation."""

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
        message = _message(error)
        if message is None:
            raise
        return 1, message
    except ModuleNotFoundError as error:
        message = _hidden(error)
        if message is None:
            raise
        return 1, message
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED, "interrupted"
    # typer turns Ctrl-C within a command into this result
    return (result if isinstance(result, int) else 0), "interrupted" if result == INTERRUPTED else ""


def _hidden(error: ModuleNotFoundError) -> str | None:
    """The message for a module of the laboratory that is missing: often another folder of its name comes first."""
    package = (error.name or "").partition(".")[0]
    if package not in PACKAGES:
        return None
    found = getattr(sys.modules.get(package), "__path__", None)
    where = f": '{package}' is {next(iter(found))} here, perhaps through PYTHONPATH" if found else ""
    return f"the module '{error.name}' of p4sched is missing{where}; if that is its own folder, {in_repository(SETUP)}"


def _message(error: OSError) -> str | None:
    """The message for a full disk, a program for another machine, or a damaged installation; None for other errors."""
    if error.errno in FULL:
        return f"{error.filename or 'output'}: cannot write: {error.strerror}"
    if error.errno == errno.ENOEXEC:
        return f"{error.filename}: not a program for this machine, which is {platform.machine()}"
    if INSTALLED and error.filename and Path(os.fsdecode(error.filename)).is_relative_to(DATA_DIR):
        return f"{error.filename}: {error.strerror}; {in_repository(SETUP)}"
    return None
