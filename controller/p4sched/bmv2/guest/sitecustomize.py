"""Lets a Python that `p4sched as-bmv2` started find packages that it lacks.

Scripts for BMv2 import them: P4Runtime's messages, gRPC, scapy, psutil, Mininet and p4runtime-shell. Packages that the
Python has itself come first. The packages fit the version of Python that they were installed for. This file must run on
every version from 3.6 on.
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from importlib.metadata import Distribution, DistributionFinder

_HERE = os.path.dirname(os.path.abspath(__file__))
# the environment with p4runtime-shell; without it no package is found
_SHELL = os.environ.get("P4SCHED_SHELL", _HERE)
_FOLDERS = (
    _HERE,
    os.path.join(_SHELL, "lib", f"python{sys.version_info[0]}.{sys.version_info[1]}", "site-packages"),
)


def _finds(name: str) -> bool:
    return PathFinder.find_spec(name, list(_FOLDERS)) is not None


class _Missing:
    """The finder that Python asks last: for packages, and for missing subpackages, such as `p4.tmp` in `p4`."""

    @staticmethod
    def find_spec(
        name: str, path: "Sequence[str] | None" = None, target: "ModuleType | None" = None
    ) -> "ModuleSpec | None":
        if name == "distutils" and _finds("_distutils_hack"):
            # not a part of Python since 3.12; Mininet needs it, and setuptools has it
            found: ModuleSpec | None = import_module("_distutils_hack").DistutilsMetaFinder().spec_for_distutils()
            return found
        inside = name.split(".")[:-1]
        return PathFinder.find_spec(name, [os.path.join(folder, *inside) for folder in _FOLDERS], target)

    @staticmethod
    def find_distributions(context: "DistributionFinder.Context") -> "Iterable[Distribution]":
        """Finds metadata for importlib.metadata: some packages ask for their own version."""
        return PathFinder.find_distributions(type(context)(**{**vars(context), "path": list(_FOLDERS)}))


sys.meta_path.append(_Missing)

# the sitecustomize that this file hides, if there is one
_other = PathFinder.find_spec("sitecustomize", [folder for folder in sys.path if os.path.abspath(folder) != _HERE])
if _other is not None and _other.loader is not None:
    _other.loader.exec_module(sys.modules[__name__])
