"""Loads the Python files of a scheduler's folder."""

import importlib.util
import itertools
import sys
import traceback
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType

from p4sched.errors import P4schedError

_NUMBERS = itertools.count()


class ModelError(P4schedError):
    """A fault in a file of a folder; the message begins with the file and the line, as far as they are known."""


def load(file: Path) -> ModuleType:
    """The module of a file, loaded anew.

    Raises:
        ModelError: the file cannot be loaded.
    """
    spec = importlib.util.spec_from_file_location(f"p4sched_folder_{next(_NUMBERS)}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        with redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except P4schedError:
        raise
    except (Exception, SystemExit) as error:
        raise ModelError(place(error, file)) from error
    return module


def place(error: BaseException, file: Path) -> str:
    """File, line, kind and text of an error, in one line."""
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return f"{file}:{error.lineno or 1}: {type(error).__name__}: {error.msg}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    where = f"{file}:{lines[-1]}" if lines else f"{file}"
    text = " ".join(str(error).split())[:300]
    return f"{where}: {type(error).__name__}{f': {text}' if text else ''}"
