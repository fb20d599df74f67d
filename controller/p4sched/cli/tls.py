"""`p4sched certificates`, and the TLS options of commands that connect to a switch, named as in p4runtime-shell."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from p4sched.cli import writable
from p4sched.cli.command_line import folder
from p4sched.errors import in_range
from p4sched.p4rt.tls import Tls

PANEL = "TLS with the switch"
OPTIONS = ("--ssl", "--cacert", "--cert", "--private-key")
LONGEST_DAYS = 36500

Ssl = Annotated[bool, typer.Option("--ssl", help="Use TLS; any of the files below implies it.", rich_help_panel=PANEL)]
Authority = Annotated[
    Path | None,
    typer.Option(
        "--cacert",
        metavar="FILE",
        help="Certificate of the authority that signed the switch's; default: the public authorities.",
        rich_help_panel=PANEL,
    ),
]
Certificate = Annotated[
    Path | None,
    typer.Option("--cert", metavar="FILE", help="Certificate of this client, for mutual TLS.", rich_help_panel=PANEL),
]
Key = Annotated[
    Path | None,
    typer.Option("--private-key", metavar="FILE", help="Private key of --cert.", rich_help_panel=PANEL),
]


def from_options(ssl: bool, authority: Path | None, certificate: Path | None, key: Path | None) -> Tls | None:
    """TLS settings from these options; None: no TLS. Raises UsageError for wrong files."""
    if not ssl and (authority, certificate, key) == (None, None, None):
        return None
    return Tls.of_files(authority, certificate, key)


def certificates(
    into: Annotated[Path, typer.Argument(parser=folder, metavar="DIR", help="Folder for the files.")],
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--name", metavar="NAME", help="Name of a machine that runs switches, in addition to localhost; repeatable."
        ),
    ] = None,
    address: Annotated[
        list[str] | None,
        typer.Option("--address", metavar="IP", help="Address of such a machine, in addition to loopback; repeatable."),
    ] = None,
    days: Annotated[int, typer.Option("--days", metavar="N", help="Days until the certificates expire.")] = 365,
) -> None:
    """Make certificates for a laboratory: an authority, and one signed for switches and one for clients.

    Writes a certificate DIR/NAME.crt and a key DIR/NAME.key for each of ca, server and client.
    """
    from p4sched import certificates as certificate_files  # noqa: PLC0415 - needs a library that the other commands do not

    in_range("--days", days, 1, LONGEST_DAYS, "days")
    writable.folder("DIR", into)
    places = certificate_files.Places(
        [certificate_files.parse_name(each) for each in name or ()],
        [certificate_files.parse_address(each) for each in address or ()],
    )
    files = certificate_files.make(certificate_files.LOOPBACK + places, datetime.now(UTC), days)
    certificate_files.write(into, files)
    typer.echo("\n".join(str(into / each) for each in files))
    typer.echo(
        f"a switch takes: --grpc-server-ssl --grpc-server-cert {into}/server.crt --grpc-server-key {into}/server.key"
        f" --grpc-server-cacert {into}/ca.crt --grpc-server-with-client-auth\n"
        f"a client takes: --cacert {into}/ca.crt --cert {into}/client.crt --private-key {into}/client.key"
    )
