"""Certificates for a laboratory: an authority, a certificate for the switches, and one for the clients.

Files are in PEM form. Keys are those of the curve P-256, which every TLS library has.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from secrets import token_hex
from typing import TypeAlias, TypeVar

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from p4sched.errors import P4schedError, UsageError

AUTHORITY, SWITCH, CLIENT = "ca", "server", "client"
"""Names of the files: each has a certificate NAME.crt and a key NAME.key."""
CERTIFICATE, KEY = ".crt", ".key"
ORGANIZATION = "p4sched laboratory"
CLOCKS_DIFFER_BY = timedelta(minutes=5)
"""Certificates become valid this much earlier, for machines whose clock is slow."""
_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_NAME = re.compile(rf"(\*\.)?{_LABEL}(\.{_LABEL})*", re.IGNORECASE)
_LONGEST_NAME = 253
Address: TypeAlias = IPv4Address | IPv6Address
T = TypeVar("T")


@dataclass(frozen=True)
class Places:
    """Addresses at which clients find the switches."""

    names: Sequence[str]
    addresses: Sequence[Address]

    def __add__(self, other: "Places") -> "Places":
        return Places(_once(*self.names, *other.names), _once(*self.addresses, *other.addresses))


def _once(*values: T) -> list[T]:
    return list(dict.fromkeys(values))


LOOPBACK = Places(("localhost",), (ip_address("127.0.0.1"), ip_address("::1")))


def parse_name(text: object) -> str:
    """Parses a DNS name; a wildcard such as "*.lab" is allowed."""
    name = str(text)
    if len(name) > _LONGEST_NAME or _NAME.fullmatch(name) is None:
        raise UsageError(f"'{name}' is not a host name, for example s1.lab")
    return name


def parse_address(text: object) -> Address:
    try:
        return ip_address(str(text))
    except ValueError:
        raise UsageError(f"'{text}' is not an IP address, for example 10.0.0.1") from None


def make(places: Places, start: datetime, days: int) -> dict[str, bytes]:
    """Makes an authority, and its certificates for clients and for switches at these places; file contents by name.

    All are valid for `days` from `start` on.
    """
    valid = (start - CLOCKS_DIFFER_BY, start + timedelta(days=days))
    ca_key = ec.generate_private_key(ec.SECP256R1())
    # a certificate names its authority, so each authority needs a name of its own
    ca_name = _name(f"authority {token_hex(4)}")
    ca = (
        _certificate(ca_name, ca_name, ca_key.public_key(), ca_key.public_key(), valid)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .sign(ca_key, hashes.SHA256())
    )
    files = _files(AUTHORITY, ca, ca_key)
    found_at: list[x509.GeneralName] = [x509.DNSName(name) for name in places.names]
    found_at += [x509.IPAddress(address) for address in places.addresses]
    for who, purpose in ((SWITCH, ExtendedKeyUsageOID.SERVER_AUTH), (CLIENT, ExtendedKeyUsageOID.CLIENT_AUTH)):
        key = ec.generate_private_key(ec.SECP256R1())
        builder = (
            _certificate(_name(who), ca_name, key.public_key(), ca_key.public_key(), valid)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
        )
        if who == SWITCH:
            builder = builder.add_extension(x509.SubjectAlternativeName(found_at), critical=False)
        files |= _files(who, builder.sign(ca_key, hashes.SHA256()), key)
    return files


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Writes the files; only the owner can read the keys.

    Raises P4schedError, and writes nothing, if one of the files exists or cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise P4schedError(f"{folder}: cannot be made: {error.strerror}") from error
    written: list[Path] = []
    try:
        for name, content in files.items():
            path = folder / name
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if name.endswith(KEY) else 0o644)
            written.append(path)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
    except OSError as error:
        for ours in written:
            ours.unlink()
        if isinstance(error, FileExistsError):
            raise P4schedError(
                f"{path}: already exists; nothing was written. Remove it, or choose another folder"
            ) from None
        raise P4schedError(f"{path}: cannot be written: {error.strerror}") from error


def _name(who: str) -> x509.Name:
    attributes = {NameOID.ORGANIZATION_NAME: ORGANIZATION, NameOID.COMMON_NAME: f"{ORGANIZATION} {who}"}
    return x509.Name([x509.NameAttribute(kind, value) for kind, value in attributes.items()])


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    issuer_key: ec.EllipticCurvePublicKey,
    valid: tuple[datetime, datetime],
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(valid[0])
        .not_valid_after(valid[1])
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key), critical=False)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _files(who: str, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> dict[str, bytes]:
    return {
        who + CERTIFICATE: certificate.public_bytes(Encoding.PEM),
        who + KEY: key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    }
