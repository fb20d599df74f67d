"""Work in a process of its own: if a library ends it, the user reads one sentence."""

import json
import os
import sys
import traceback
from collections.abc import Callable
from signal import SIGKILL, Signals

import typer

from p4sched.errors import INTERRUPTED, P4schedError

STDERR = 2


def in_own_process(work: Callable[[], int], ended: str) -> int:
    """Runs work that prints, and returns its exit code. `ended`: the sentence if a signal ends the process.

    Raises:
        P4schedError: the work raised it, or a signal ended the process.
    """
    lines, print_to = os.pipe()
    result, report_to = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        os.close(lines)
        os.close(result)
        _work(work, print_to, report_to)
    os.close(print_to)
    os.close(report_to)
    try:
        with os.fdopen(lines, encoding="utf-8", errors="replace") as printed:
            for line in printed:
                typer.echo(line, nl=False)
        with os.fdopen(result, encoding="utf-8") as report:
            said = report.read()
    except BaseException:
        # the user ended the command
        os.kill(child, SIGKILL)
        os.waitpid(child, 0)
        raise
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        raise P4schedError(f"{ended} ({Signals(-status).name})")
    if said:
        error = P4schedError(json.loads(said))
        error.exit_code = status
        raise error
    return status


def _work(work: Callable[[], int], print_to: int, report_to: int) -> None:
    """The process. It ends here, without what the command line does at its end."""
    code = 1
    # a library in C++ says there why it ends
    sys.stderr = os.fdopen(os.dup(STDERR), "w", encoding="utf-8", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), STDERR)
    try:
        with os.fdopen(print_to, "w", encoding="utf-8", buffering=1) as sys.stdout:
            code = work()
    except P4schedError as error:
        code = error.exit_code
        os.write(report_to, json.dumps(str(error)).encode())
    except (KeyboardInterrupt, BrokenPipeError):
        code = INTERRUPTED
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)
