"""`p4sched switch`, `p4sched as-bmv2` and `p4sched shell`: other programs, in the place of this one."""

import os
import socket
from dataclasses import replace
from typing import Annotated

import typer

from p4sched.cli import tls
from p4sched.errors import P4schedError, UsageError
from p4sched.lab.running import find_switch
from p4sched.p4rt.tls import trouble
from p4sched.paths import BMV2_NAMES_DIR, READING_SHELL, SHELL_PYTHON, rust_binary


def switch(ctx: typer.Context) -> None:
    """Run the embedded switch. It takes the options of simple_switch_grpc; '--help' shows them."""
    binary = str(rust_binary("p4sched-switch"))
    os.execv(binary, [binary, *ctx.args])


def as_bmv2(
    ctx: typer.Context,
    command: Annotated[str, typer.Argument(metavar="COMMAND", help="What to run, with its arguments.")],
) -> None:
    """Run a command that finds this project's switch and compiler under BMv2's and p4c's names.

    simple_switch, simple_switch_grpc, simple_switch_CLI, p4c and p4c-bm2-ss are first on its PATH.
    """
    for name in ("p4sched-switch", "p4sched-p4c"):
        rust_binary(name)
    path = f"{BMV2_NAMES_DIR}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    try:
        os.execvpe(command, [command, *ctx.args], {**os.environ, "PATH": path})
    except FileNotFoundError as error:
        raise P4schedError(f"no command '{command}' on the PATH") from error
    except OSError as error:
        raise P4schedError(f"{command}: cannot be run: {error.strerror}") from error


def shell(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="SWITCH", help="A switch of the running lab (s1), or HOST:PORT.")],
    primary: Annotated[bool, typer.Option("--primary", help="Write as well, if no controller does.")] = False,
    ssl: tls.Ssl = False,
    cacert: tls.Authority = None,
    cert: tls.Certificate = None,
    private_key: tls.Key = None,
) -> None:
    """Open p4runtime-shell on a running switch. It only reads, also where no controller writes.

    Further options go to p4runtime-shell: '--election-id 0,20' takes the writing over from the controller.
    """
    found = replace(find_switch(name), tls=tls.asked(ssl, cacert, cert, private_key))
    if not SHELL_PYTHON.is_file():
        raise P4schedError(f"{SHELL_PYTHON} is missing; 'make setup' installs p4runtime-shell")
    _check_that_it_listens(found.address)
    wrong = trouble(found.address, found.tls)
    if wrong is not None:
        raise P4schedError(f"switch {found.address}: {wrong}")
    arguments = ["--grpc-addr", found.address, "--device-id", str(found.device_id)]
    if any(word.split("=")[0] == "--election-id" for word in ctx.args):
        if primary:
            raise UsageError("--primary and --election-id exclude each other")
        arguments = ["-m", "p4runtime_sh", *arguments]
    else:
        # below every controller's election id, so that the shell does not take the switch from it
        asked = ["--primary"] if primary else []
        arguments = [str(READING_SHELL), *asked, *arguments, "--election-id", "0,1"]
    files = {"--cacert": cacert, "--cert": cert, "--private-key": private_key}
    if found.tls is not None:
        arguments += ["--ssl", *(word for name, path in files.items() if path for word in (name, str(path)))]
    arguments += ctx.args
    os.execv(SHELL_PYTHON, [str(SHELL_PYTHON), *arguments])


def _check_that_it_listens(address: str) -> None:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except OSError as error:
        raise P4schedError(f"switch {address}: does not answer ({error.strerror or error}); is it running?") from error
