"""`p4sched certificates`, and the options of commands that speak TLS with a switch: those of p4runtime-shell."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from p4sched.cli.given import folder
from p4sched.errors import in_range
from p4sched.p4rt.tls import Tls

PANEL = "TLS with the switch"
OPTIONS = ("--ssl", "--cacert", "--cert", "--private-key")
LONGEST_DAYS = 36500

Ssl = Annotated[bool, typer.Option("--ssl", help="Encrypt; the files below ask for it too.", rich_help_panel=PANEL)]
Authority = Annotated[
    Path | None,
    typer.Option(
        "--cacert",
        metavar="FILE",
        help="Authority of the switch's certificate; default: the public ones.",
        rich_help_panel=PANEL,
    ),
]
Certificate = Annotated[
    Path | None,
    typer.Option("--cert", metavar="FILE", help="Own certificate, for mutual TLS.", rich_help_panel=PANEL),
]
Key = Annotated[
    Path | None,
    typer.Option("--private-key", metavar="FILE", help="Private key of --cert.", rich_help_panel=PANEL),
]


def asked(ssl: bool, authority: Path | None, certificate: Path | None, key: Path | None) -> Tls | None:
    """What these options ask for; None: nothing is encrypted. Raises UsageError for wrong files."""
    if not ssl and (authority, certificate, key) == (None, None, None):
        return None
    return Tls.of_files(authority, certificate, key)


def certificates(
    into: Annotated[Path, typer.Argument(parser=folder, metavar="DIR", help="Folder of the files.")],
    name: Annotated[
        list[str] | None,
        typer.Option("--name", metavar="NAME", help="Name of a machine on which switches run, besides localhost."),
    ] = None,
    address: Annotated[
        list[str] | None,
        typer.Option("--address", metavar="IP", help="Address of such a machine, besides those of loopback."),
    ] = None,
    days: Annotated[int, typer.Option("--days", metavar="N", help="How long the certificates are valid.")] = 365,
) -> None:
    """Make certificates for a laboratory: an authority, and one for switches and one for clients that it signed.

    Of each there is a certificate DIR/NAME.crt and a key DIR/NAME.key, for ca, server and client.
    """
    from p4sched import certificates as made  # noqa: PLC0415 - needs a library that the other commands do not

    in_range("--days", days, 1, LONGEST_DAYS, "days")
    asked_for = made.Places(
        [made.parse_name(each) for each in name or ()], [made.parse_address(each) for each in address or ()]
    )
    files = made.make(made.LOOPBACK + asked_for, datetime.now(UTC), days)
    made.write(into, files)
    typer.echo("\n".join(str(into / each) for each in files))
    typer.echo(
        f"a switch takes: --grpc-server-ssl --grpc-server-cert {into}/server.crt --grpc-server-key {into}/server.key"
        f" --grpc-server-cacert {into}/ca.crt --grpc-server-with-client-auth\n"
        f"a client takes: --cacert {into}/ca.crt --cert {into}/client.crt --private-key {into}/client.key"
    )
