"""The command line, `simple_switch_CLI`. It reads commands from a terminal or from standard input, one a line."""

import argparse
import hashlib
import os
import sys
from pathlib import Path

from thriftpy2.thrift import TException
from thriftpy2.transport import TTransportException

from p4sched.bmv2.arrays import ArrayCommands
from p4sched.bmv2.connection import Services, connect
from p4sched.bmv2.multicast import MulticastCommands
from p4sched.bmv2.program import InputError, Program
from p4sched.bmv2.switch import SwitchCommands
from p4sched.bmv2.tables import TableCommands


class Commands(TableCommands, ArrayCommands, MulticastCommands, SwitchCommands):
    """All commands; `help` lists them, the tab key completes names."""

    intro = "Control utility for runtime P4 table manipulation"


def _port(word: str) -> int:
    if not 0 < (port := int(word)) < 1 << 16:
        raise argparse.ArgumentTypeError(f"{word} is not a port: 1 to 65535")
    return port


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="simple_switch_CLI",
        description="Reads and writes what a running switch holds, as BMv2's simple_switch_CLI does.",
    )
    parser.add_argument("--thrift-port", type=_port, default=9090, help="port of the switch's Thrift server")
    parser.add_argument("--thrift-ip", default="localhost", help="address of the switch's Thrift server")
    parser.add_argument("--json", help="BMv2 JSON of the program; default: read from the switch")
    # accepted and ignored: the switch has one packet replication engine
    parser.add_argument("--pre", choices=["None", "SimplePre", "SimplePreLAG"], help=argparse.SUPPRESS)
    return parser


def _program(services: Services, path: str | None) -> Program:
    if path is None:
        print("Obtaining JSON from switch...")
        text = services.standard.bm_get_config()
        print("Done")
        return Program(text)
    content = Path(path).read_bytes()
    loaded = services.standard.bm_get_config_md5()
    given = hashlib.md5(content, usedforsecurity=False).digest()
    if loaded != given:
        print("**********")
        print("WARNING: the JSON files loaded into the switch and the one", end=" ")
        print("you just provided to this CLI don't have the same md5 sum.", end=" ")
        print("Are you sure they describe the same program?")
        print(f"{'switch md5':<15}: {loaded.hex()}\n{'CLI input md5':<15}: {given.hex()}\n**********")
    return Program(content.decode())


def main() -> None:
    """Entry point of `simple_switch_CLI`."""
    options = _options().parse_args()
    try:
        services = connect(options.thrift_ip, options.thrift_port)
    except (OSError, TTransportException):
        print(f"Could not connect to thrift client on port {options.thrift_port}")
        print("Make sure the switch is running and that you have the right port")
        sys.exit(1)
    try:
        program = _program(services, options.json)
    except OSError as error:
        print(f"{options.json}: {error.strerror}")
        sys.exit(1)
    except (TException, ValueError, InputError) as error:
        print(f"Error when requesting JSON config from switch: {error}")
        sys.exit(1)
    try:
        Commands(services, program).cmdloop()
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # the reader of the pipe is gone: prevents a second error when Python flushes
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (OSError, TTransportException) as error:
        print(f"The switch has gone: {error}")
        sys.exit(1)


if __name__ == "__main__":
    main()
