"""What Python 3.10 lacks, added to its modules before anything of the package needs it.

The repository is developed with 3.11 and later; the wheel also runs with the Python of Ubuntu 22.04. The packages
imported here are dependencies with 3.10 alone.
"""

import asyncio
import builtins
import datetime
import enum
import importlib
import sys
import typing

BACKPORTS = (
    (asyncio, "taskgroup", ("Runner", "TaskGroup", "run", "timeout")),
    (builtins, "exceptiongroup", ("BaseExceptionGroup", "ExceptionGroup")),
    (enum, "backports.strenum", ("StrEnum",)),
    (typing, "typing_extensions", ("Never", "NotRequired", "Self", "TypedDict")),
)
"""Module, the package that has its newer names, and these names."""


def complete() -> None:
    """Adds the names, and `tomllib`."""
    for module, package, names in BACKPORTS:
        newer = importlib.import_module(package)
        for name in names:
            setattr(module, name, getattr(newer, name))
    setattr(datetime, "UTC", datetime.timezone.utc)  # noqa: B010, UP017 - to mypy the module has it
    sys.modules["tomllib"] = importlib.import_module("tomli")
