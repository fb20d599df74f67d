"""Signals that end a command. All of them run its clean-up, like Ctrl-C."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from types import FrameType

Handler = Callable[[int, FrameType | None], None] | signal.Handlers


def interruptible() -> AbstractContextManager[None]:
    """A block in which SIGTERM and SIGHUP raise KeyboardInterrupt in the main thread, so that clean-up runs.

    A process that `nohup` started still ignores SIGHUP.
    """
    handlers: dict[signal.Signals, Handler] = {signal.SIGTERM: _interrupt}
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        handlers[signal.SIGHUP] = _interrupt
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        # background jobs of a script start with SIGINT ignored, which would also make them ignore SIGTERM
        handlers[signal.SIGINT] = signal.default_int_handler
    return _handling(handlers)


def undisturbed() -> AbstractContextManager[None]:
    """A block for the clean-up, which a second Ctrl-C does not interrupt."""
    return _handling(dict.fromkeys((signal.SIGINT, signal.SIGTERM), signal.SIG_IGN))


@contextmanager
def _handling(handlers: Mapping[signal.Signals, Handler]) -> Iterator[None]:
    """Replaces signal handlers for a block. Does nothing outside the main thread, which alone can set them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    # asyncio.run turns SIGINT, and only that, into the cancellation of its main task
    print(f"stopping ({signal.Signals(number).name})", file=sys.stderr)
    signal.raise_signal(signal.SIGINT)
