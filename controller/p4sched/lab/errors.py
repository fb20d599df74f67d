"""What goes wrong in the lab."""

from collections.abc import Iterator
from contextlib import contextmanager

from mininet_topos.nodes import NodeError
from p4sched.errors import P4schedError


class LabError(P4schedError):
    """The run cannot start or go on."""


@contextmanager
def node_errors() -> Iterator[None]:
    """The topologies' and nodes' errors as errors of the lab."""
    try:
        yield
    except NodeError as error:
        raise LabError(str(error)) from error
