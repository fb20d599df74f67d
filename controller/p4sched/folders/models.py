"""Loads models in Python."""

from p4sched.folders import description as descriptions
from p4sched.folders.modules import ModelError
from p4sched.folders.modules import load as load_module
from p4sched.model import Model


def load(described: descriptions.Model) -> type[Model]:
    """The class of a model.

    Raises:
        ModelError: the file cannot be loaded, or it has no such class.
    """
    file = described.file
    module = load_module(file)
    found = getattr(module, described.name, None)
    if not (isinstance(found, type) and issubclass(found, Model)):
        raise ModelError(f"{file}: there is no class {described.name}(Model)")
    if abstract := sorted(found.__abstractmethods__):
        raise ModelError(f"{file}: {described.name} lacks the method {abstract[0]}")
    return found
