"""The check in a process of its own: code of the folder that ends its process does not end the check."""

import os
import pickle
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO

from p4sched.checks import folder
from p4sched.checks.step import Step
from p4sched.errors import INTERRUPTED, P4schedError
from p4sched.scheme import Scheme

_END = "end"
"""Message after the last step."""


def steps(scheme: Scheme, seed: int = 1, *, tcp: bool = False) -> Iterator[Step]:
    """The steps of `folder.steps`, and a failed one if the process ended before the last step."""
    sys.stdout.flush()
    sys.stderr.flush()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        _play(write, scheme, seed, tcp=tcp)
    os.close(write)
    try:
        with open(read, "rb") as pipe:
            while (item := _next(pipe)) is not None and item != _END:
                if isinstance(item, P4schedError):
                    raise item
                assert isinstance(item, Step)
                yield item
    except BaseException:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise
    _, status = os.waitpid(child, 0)
    if item is None:
        yield Step("model", False, [f"{scheme.folder}: its Python code ended its process{_how(status)}"])


def _how(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f" with code {code}" if code >= 0 else f" by {signal.Signals(-code).name}"


def _next(pipe: BinaryIO) -> object:
    """The next item; None if the process has ended."""
    try:
        return pickle.load(pipe)
    except (EOFError, pickle.UnpicklingError):
        return None


def _play(write: int, scheme: Scheme, seed: int, *, tcp: bool) -> None:
    """Sends the steps, and ends this process."""
    code = 1
    with suppress(BrokenPipeError), open(write, "wb") as pipe:
        try:
            for step in folder.steps(scheme, seed, tcp=tcp):
                pickle.dump(step, pipe)
                pipe.flush()
            pickle.dump(_END, pipe)
            code = 0
        except P4schedError as error:
            pickle.dump(error, pipe)
        except KeyboardInterrupt:
            code = INTERRUPTED
        except BaseException:
            traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
