"""`p4sched switch`, `lsp`, `as-bmv2` and `shell`: run another program in place of this one."""

import os
import socket
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from p4sched.cli import tls
from p4sched.errors import P4schedError, UsageError
from p4sched.lab.switch_lookup import find_switch
from p4sched.p4rt.tls import trouble
from p4sched.paths import (
    BMV2_GUEST_DIR,
    READING_SHELL,
    SHELL_DIR,
    SHELL_PYTHON,
    bmv2_names,
    is_file,
    rust_binary,
    shell_setup,
)


def switch(ctx: typer.Context) -> None:
    """Run the embedded switch, with the options of simple_switch_grpc; '--help' shows them."""
    binary = str(rust_binary("p4sched-switch"))
    os.execv(binary, [binary, *ctx.args])


def lsp(ctx: typer.Context) -> None:
    """Run the language server for P4 in editors, on standard input and output; '--help' shows its options."""
    binary = str(rust_binary("p4sched-lsp"))
    os.execv(binary, [binary, *ctx.args])


def as_bmv2(
    ctx: typer.Context,
    command: Annotated[str, typer.Argument(metavar="COMMAND", help="Command to run, with its arguments.")],
) -> None:
    """Run a command that uses this project's switch and compiler under the names of BMv2 and p4c.

    On its PATH, simple_switch, simple_switch_grpc, simple_switch_CLI, p4c and p4c-bm2-ss come first. Its Python finds
    P4Runtime's messages, gRPC, scapy, psutil, Mininet and p4runtime-shell, if it has none. sudo keeps both.
    """
    for name in ("p4sched-switch", "p4sched-p4c"):
        rust_binary(name)
    found = {
        "PATH": _before("PATH", bmv2_names(), BMV2_GUEST_DIR),
        "PYTHONPATH": _before("PYTHONPATH", BMV2_GUEST_DIR),
        "P4SCHED_SHELL": str(SHELL_DIR),
    }
    try:
        os.execvpe(command, [command, *ctx.args], {**os.environ, **found})
    except FileNotFoundError as error:
        raise UsageError(f"no command '{command}' on the PATH") from error
    except OSError as error:
        raise P4schedError(f"{command}: cannot run: {error.strerror}") from error


def _before(variable: str, *folders: Path) -> str:
    """The folders, then those that the environment variable lists."""
    listed = os.environ.get(variable, os.defpath if variable == "PATH" else "")
    return os.pathsep.join([*map(str, folders), *filter(None, [listed])])


def shell(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="SWITCH", help="A switch of the running lab (s1), or HOST:PORT.")],
    primary: Annotated[bool, typer.Option("--primary", help="Also write, if no controller does.")] = False,
    ssl: tls.Ssl = False,
    cacert: tls.Authority = None,
    cert: tls.Certificate = None,
    private_key: tls.Key = None,
) -> None:
    """Open p4runtime-shell on a running switch. By default it only reads.

    Other options go to p4runtime-shell. '--election-id 0,20' makes the shell primary, in place of the controller.
    """
    found = replace(find_switch(name), tls=tls.from_options(ssl, cacert, cert, private_key))
    if not is_file(SHELL_PYTHON):
        raise P4schedError(f"{SHELL_PYTHON} is missing; this installs p4runtime-shell: {shell_setup()}")
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
        # an election id below that of every controller, so that the shell does not replace a controller
        primary_option = ["--primary"] if primary else []
        arguments = [str(READING_SHELL), *primary_option, *arguments, "--election-id", "0,1"]
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
