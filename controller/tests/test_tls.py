"""TLS between a switch and its controllers: who comes together, and what is said of the others."""

import asyncio
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import finsy as fy
import pytest
from cryptography import x509
from lab import PATIENCE_S
from switches import RunningSwitch, start_switch

from mininet_topos.nodes import free_port
from p4sched.certificates import LOOPBACK, Places, make, write
from p4sched.cli import programs
from p4sched.cli.main import run_command
from p4sched.control.controller import SwitchAddress
from p4sched.live.collector import collecting
from p4sched.p4rt.program import Program
from p4sched.p4rt.reader import SwitchGoneError
from p4sched.p4rt.session import connect
from p4sched.p4rt.tls import Tls, trouble
from p4sched.p4rt.traffic_manager import EmbeddedTrafficManager
from p4sched.paths import rust_binary

YEAR = 365
LAB, OTHER = "lab", "other"
OLD, MIXED = "old", "mixed"
"""OLD's certificates have expired; MIXED is LAB, but wants clients of OLD's authority."""
ELSEWHERE = "elsewhere"
"""Its switches are not on loopback."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for each."""
    folder = tmp_path_factory.mktemp("files")
    now = datetime.now(UTC)
    write(folder / LAB, make(LOOPBACK, now, YEAR))
    write(folder / OTHER, make(LOOPBACK, now, YEAR))
    write(folder / ELSEWHERE, make(Places(("s1.lab",), ()), now, YEAR))
    long_ago = now - timedelta(days=2 * YEAR)
    write(folder / OLD, make(LOOPBACK, long_ago, YEAR))
    shutil.copytree(folder / LAB, folder / MIXED)
    shutil.copy(folder / OLD / "ca.crt", folder / MIXED)
    return folder


def server_options(folder: Path, *, mutual: bool) -> tuple[str, ...]:
    """As for BMv2."""
    own = ("--grpc-server-cert", str(folder / "server.crt"), "--grpc-server-key", str(folder / "server.key"))
    clients = ("--grpc-server-cacert", str(folder / "ca.crt"), "--grpc-server-with-client-auth")
    return ("--grpc-server-ssl", *own, *(clients if mutual else ()))


def client_options(authority: Path | None, own: Path | None = None) -> tuple[str, ...]:
    """Of p4sched and of p4runtime-shell."""
    options = () if authority is None else ("--cacert", str(authority / "ca.crt"))
    identity = () if own is None else ("--cert", str(own / "client.crt"), "--private-key", str(own / "client.key"))
    return options + identity


@contextmanager
def running(folder: Path, options: tuple[str, ...]) -> Iterator[RunningSwitch]:
    """A switch."""
    switch = start_switch("embedded", folder, options=options)
    try:
        yield switch
    finally:
        switch.stop()


async def test_a_controller_works_over_mutual_tls(tmp_path: Path, files: Path, programs: dict[str, Program]) -> None:
    """finsy's stream, the reader's channel and the traffic manager's."""
    lab = files / LAB
    tls = Tls.of_files(lab / "ca.crt", lab / "client.crt", lab / "client.key")
    with running(tmp_path, server_options(lab, mutual=True)) as switch:
        async with connect(switch.address, programs["fifo"], tls=tls) as session:
            assert session.loaded
            assert await session.entries("ipv4_routes") == []
        manager = EmbeddedTrafficManager(switch.address, tls)
        assert await manager.ports() == []
        await manager.close()
        # as other programs that stand on finsy do it
        credentials = fy.GRPCCredentialsTLS(
            cacert=lab / "ca.crt", cert=lab / "client.crt", private_key=lab / "client.key"
        )
        options = fy.SwitchOptions(device_id=1, channel_credentials=credentials)
        async with fy.Switch("sw1", switch.address, options) as found:
            assert found.is_primary


def without_extensions(folder: Path, days: int, into: Path) -> None:
    """A client's certificate of version 1, as the command in the guide of p4runtime-shell makes it."""
    signing: tuple[str | Path, ...] = ("-CA", folder / "ca.crt", "-CAkey", folder / "ca.key", "-set_serial", "01")
    said = subprocess.run(["openssl", "x509", "-help"], capture_output=True, text=True, check=False)
    if "-not_after" in said.stderr + said.stdout:
        # since OpenSSL 3.4, which refuses a number of days below 0
        begin, end = sorted(datetime.now(UTC) + timedelta(days=day) for day in (0, days))
        signing += ("-not_before", f"{begin:%Y%m%d%H%M%SZ}", "-not_after", f"{end:%Y%m%d%H%M%SZ}")
    else:
        signing += ("-days", str(days))
    for words in (
        (
            "req",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-keyout",
            into / "client.key",
            "-out",
            into / "csr",
            "-subj",
            "/CN=c",
        ),
        ("x509", "-req", "-in", into / "csr", "-out", into / "client.crt", *signing),
    ):
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


@pytest.mark.parametrize(("days", "let_in"), [(1, True), (-1, False)])
def test_a_client_with_a_certificate_of_version_1_is_let_in(
    tmp_path: Path, files: Path, days: int, let_in: bool
) -> None:
    """As by BMv2. OpenSSL 3.0 makes such ones."""
    lab = files / LAB
    without_extensions(lab, days, tmp_path)
    if x509.load_pem_x509_certificate((tmp_path / "client.crt").read_bytes()).version is not x509.Version.v1:
        pytest.skip("this OpenSSL makes certificates of version 3")
    tls = Tls.of_files(lab / "ca.crt", tmp_path / "client.crt", tmp_path / "client.key")
    with running(tmp_path, server_options(lab, mutual=True)) as switch:
        refusal = "says that the certificate in --cert has expired"
        assert trouble(switch.address, tls) == (None if let_in else refusal)


PLAIN, ENCRYPTED, MUTUAL = "plain", "encrypted", "mutual"


@pytest.mark.parametrize(
    ("server", "manner", "authority", "own", "message"),
    [
        (LAB, PLAIN, LAB, None, "does not speak TLS; leave out --ssl, --cacert, --cert and --private-key"),
        (LAB, ENCRYPTED, None, None, "speaks TLS; --cacert FILE names the authority of its certificate"),
        (LAB, MUTUAL, None, None, "speaks TLS; --cacert FILE names the authority of its certificate"),
        (LAB, ENCRYPTED, OTHER, None, "has a certificate of an authority that --cacert does not name"),
        (OLD, ENCRYPTED, OLD, None, "has a certificate that is not valid: certificate has expired"),
        (LAB, MUTUAL, LAB, None, "lets in only clients with a certificate: --cert and --private-key"),
        (LAB, MUTUAL, LAB, OTHER, "does not know the authority of the certificate in --cert"),
        (MIXED, MUTUAL, LAB, OLD, "says that the certificate in --cert has expired"),
        (
            ELSEWHERE,
            ENCRYPTED,
            ELSEWHERE,
            None,
            "has a certificate that is not for 127.0.0.1; 'p4sched certificates' has --name and --address",
        ),
    ],
)
def test_a_refused_client_learns_why(
    tmp_path: Path,
    files: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    server: str,
    manner: str,
    authority: str | None,
    own: str | None,
    message: str,
) -> None:
    # it is not started, for it would not come in
    monkeypatch.setattr(programs, "SHELL_PYTHON", Path(sys.executable))
    options = () if manner == PLAIN else server_options(files / server, mutual=manner == MUTUAL)
    with running(tmp_path, options) as switch:
        client = client_options(*(None if folder is None else files / folder for folder in (authority, own)))
        assert run_command(["shell", switch.address, *client]) == 1
        assert capsys.readouterr().err == f"p4sched: switch {switch.address}: {message}\n"


def test_a_controller_and_the_live_page_also_learn_it(
    tmp_path: Path, files: Path, fdpa: Program, capsys: pytest.CaptureFixture[str]
) -> None:
    async def look(at: SwitchAddress) -> None:
        async with collecting({"s1": at}, 1.0):
            pass

    with running(tmp_path, server_options(files / LAB, mutual=True)) as switch:
        message = f"switch {switch.address}: lets in only clients with a certificate: --cert and --private-key"
        at = SwitchAddress(switch.address, tls=Tls.of_files(files / LAB / "ca.crt", None, None))
        with pytest.raises(SwitchGoneError, match=re.escape(message)):
            asyncio.run(look(at))
        words = ["control", switch.address, "--rate", "1mbit", "--program", str(fdpa.json.parent)]
        assert run_command([*words, *client_options(files / LAB)]) == 1
        assert capsys.readouterr().err == f"p4sched: {message}\n"


@pytest.mark.parametrize(
    ("certificate", "key", "clients", "message"),
    [
        ("lab/none.crt", "lab/server.key", None, "none.crt: No such file or directory"),
        ("lab/server.crt", "other/server.key", None, "other/server.key: not the key of the certificate in"),
        ("lab/server.key", "lab/server.key", None, "server.key: holds no certificate in PEM form"),
        ("lab/server.crt", "lab/server.crt", None, "server.crt: holds no private key in PEM form"),
        ("lab/server.crt", "lab/server.key", "lab/ca.key", "ca.key: holds no certificate in PEM form"),
    ],
)
def test_a_switch_with_wrong_files_does_not_start(
    files: Path, certificate: str, key: str, clients: str | None, message: str
) -> None:
    words = ["--grpc-server-ssl", "--grpc-server-cert", str(files / certificate), "--grpc-server-key", str(files / key)]
    if clients is not None:
        words += ["--grpc-server-cacert", str(files / clients), "--grpc-server-with-client-auth"]
    binary = str(rust_binary("p4sched-switch"))
    command = [binary, "--no-p4", "--grpc-server-addr", f"127.0.0.1:{free_port()}", *words]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert ended.returncode == 1
    [line] = ended.stderr.splitlines()
    assert message in line


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--cacert", "lab/none.crt"), "none.crt: No such file or directory"),
        (("--cacert", "lab"), "lab: Is a directory"),
        (("--cacert", "lab/ca.key"), "ca.key: holds no certificate in PEM form"),
        (("--cert", "lab/client.crt"), "--cert and --private-key belong together"),
        (("--private-key", "lab/client.key"), "--cert and --private-key belong together"),
        (
            ("--cert", "lab/client.crt", "--private-key", "other/client.key"),
            "other/client.key: not the key of the certificate in",
        ),
        (("--cert", "lab/client.key", "--private-key", "lab/client.key"), "not a certificate and its key in PEM form"),
    ],
)
def test_a_client_with_wrong_files_does_not_start(
    files: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(files)
    assert run_command(["shell", "127.0.0.1:9", *options]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert message in line


def test_certificates_are_made_for_names_and_addresses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("--name", "s1.lab", "--address", "10.0.0.1", "--address", "fd00::1", "--days", "10")
    assert run_command(["certificates", "made", *words]) == 0
    written = {path.name for path in (tmp_path / "made").iterdir()}
    assert written == {f"{who}.{kind}" for who in ("ca", "server", "client") for kind in ("crt", "key")}
    assert "made/ca.crt" in capsys.readouterr().out
    for name in written:
        readable_by_others = (tmp_path / "made" / name).stat().st_mode & (stat.S_IRGRP | stat.S_IROTH)
        assert bool(readable_by_others) == name.endswith(".crt")
    found = x509.load_pem_x509_certificate((tmp_path / "made" / "server.crt").read_bytes())
    names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["localhost", "s1.lab"]
    addresses = ["127.0.0.1", "::1", "10.0.0.1", "fd00::1"]
    assert names.get_values_for_type(x509.IPAddress) == [ip_address(each) for each in addresses]
    assert found.not_valid_after_utc - found.not_valid_before_utc == timedelta(days=10, minutes=5)


def test_files_that_are_there_are_never_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "client.key").write_text("mine")
    assert run_command(["certificates", str(tmp_path)]) == 1
    assert "client.key: already exists; nothing was written" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["client.key"]
    assert (tmp_path / "client.key").read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--name", "s 1"), "'s 1' is not a host name"),
        (("--name", "-s1"), "'-s1' is not a host name"),
        (("--name", "x" * 64), "is not a host name"),
        (("--address", "10.0.0"), "'10.0.0' is not an IP address"),
        (("--days", "0"), "--days = 0 is out of range"),
        (("--days", "99999"), "--days = 99999 is out of range"),
    ],
)
def test_certificates_for_nonsense_are_refused(
    refused: Callable[[tuple[str, ...]], str], words: tuple[str, ...], message: str
) -> None:
    assert message in refused(("certificates", "made", *words))
