"""The installed command. Handles Ctrl-C also while the command line is still loading."""

import os
import sys

from p4sched.errors import INTERRUPTED


def main() -> None:
    """Entry point of `p4sched`."""
    # gRPC logs several lines about a failed handshake; the command prints one line instead
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    # gRPC would ask a proxy for a switch on this machine
    direct = (os.environ.get("no_proxy"), "127.0.0.1", "localhost", "::1")
    os.environ.setdefault("no_grpc_proxy", ",".join(filter(None, direct)))
    try:
        from p4sched.cli.main import main as command_line  # noqa: PLC0415 - takes a second, in which one may interrupt

        command_line()
    except (KeyboardInterrupt, RuntimeError) as error:
        # up to Python 3.11, an interrupt in __set_name__ is the cause of a RuntimeError
        if not isinstance(error, KeyboardInterrupt) and not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        print("p4sched: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
