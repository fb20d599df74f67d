"""The installed command: Ctrl-C is an orderly end also while the command line is still being loaded."""

import sys

from p4sched.errors import INTERRUPTED


def main() -> None:
    """Entry point of `p4sched`."""
    try:
        from p4sched.cli.main import main as command_line  # noqa: PLC0415 - takes a second, in which one may interrupt

        command_line()
    except KeyboardInterrupt:
        print("p4sched: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
