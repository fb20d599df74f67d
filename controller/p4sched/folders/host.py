"""Runs a program of p4sched-tools in this process, with models in Python.

    python -m p4sched.folders.host PROGRAM ARGUMENT ...

The environment variable of `native.VARIABLE` names the file that describes the schedulers.
"""

import importlib.util
import json
import os
import sys
from collections.abc import Callable, Mapping
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from typing import Any

from p4sched.errors import P4schedError
from p4sched.folders import models, modules
from p4sched.folders.description import Model
from p4sched.folders.native import VARIABLE
from p4sched.paths import rust_library

MODULE = "p4sched_native"


def main() -> None:
    """Runs the program. Exits with its code; a fault of a model is one line on standard error, and code 1."""
    program, *arguments = sys.argv[1:]
    # standard output has the program's JSON; what a model prints goes elsewhere
    sys.stdout = sys.stderr
    try:
        described = json.loads(Path(os.environ[VARIABLE]).read_text())["schedulers"]
        kinds = {
            each["name"]: Model(Path(each["model"][0]), each["model"][1], None, {})
            for each in described
            if each["model"]
        }
        loaded = {name: (models.load(kind), kind.file) for name, kind in kinds.items()}
        library = _library()
    except P4schedError as error:
        sys.exit(f"{program}: {error}")
    files = [file for _, file in loaded.values()]
    try:
        code = library.run([program, *arguments], {name: _maker(*each) for name, each in loaded.items()})
    except KeyboardInterrupt:
        sys.exit(130)
    except P4schedError as error:
        sys.exit(f"{program}: {error}")
    except (Exception, SystemExit) as error:
        sys.exit(f"{program}: {_place(error, files)}")
    sys.exit(code)


def _maker(kind: Callable[[Mapping[str, int], int], Any], file: Path) -> Callable[[Mapping[str, int], int], Any]:
    def make(parameters: Mapping[str, int], seed: int) -> Any:
        try:
            return kind(parameters, seed)
        except (Exception, SystemExit) as error:
            raise P4schedError(modules.place(error, file)) from error

    return make


def _place(error: BaseException, files: list[Path]) -> str:
    """The place of an error in one of the models."""
    traced = [modules.place(error, file) for file in files]
    return next((text for text, file in zip(traced, files, strict=True) if text.startswith(f"{file}:")), traced[0])


def _library() -> Any:
    path = rust_library(MODULE)
    loader = ExtensionFileLoader(MODULE, str(path))
    spec = importlib.util.spec_from_file_location(MODULE, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
