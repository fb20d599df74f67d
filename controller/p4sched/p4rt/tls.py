"""TLS with switches, and the reason of a failure: gRPC only reports that the switch does not answer."""

import socket
import ssl
from dataclasses import dataclass
from pathlib import Path

import grpc.aio
from finsy.grpcutil import GRPCChannelArgumentType, GRPCCredentialsTLS, GRPCOptions, grpc_channel

from p4sched.errors import UsageError

TIMEOUT_S = 5.0
_MISMATCH = (62, 64)
"""OpenSSL's errors for a certificate of another name or another address."""
_UNKNOWN_AUTHORITY = (18, 19, 20, 21)
"""OpenSSL's errors for a chain that does not end at a known authority."""


@dataclass(frozen=True)
class Tls:
    """TLS settings of a client."""

    credentials: GRPCCredentialsTLS
    context: ssl.SSLContext

    @classmethod
    def of_files(cls, authority: Path | None, certificate: Path | None, key: Path | None) -> "Tls":
        """TLS settings from PEM files: the authority of the switches' certificates (None: the public authorities), and
        the client's certificate and key, for mutual TLS. Raises UsageError for files that are missing, wrong, or do not
        match."""
        if (certificate is None) != (key is None):
            raise UsageError("--cert and --private-key belong together: give both, or none")
        for path in (authority, certificate, key):
            _readable(path)
        context = ssl.create_default_context()
        if authority is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            try:
                context.load_verify_locations(cafile=authority)
            except ssl.SSLError:
                raise UsageError(f"--cacert {authority}: holds no certificate in PEM form") from None
        if certificate is not None and key is not None:
            try:
                # an empty password, so that OpenSSL does not ask for a passphrase during a run
                context.load_cert_chain(certificate, key, password="")
            except ssl.SSLError as error:
                if error.reason == "KEY_VALUES_MISMATCH":
                    raise UsageError(f"--private-key {key}: not the key of the certificate in {certificate}") from None
                wrong = "not a certificate and its key in PEM form without a passphrase"
                raise UsageError(f"--cert {certificate}, --private-key {key}: {wrong}") from None
        context.set_alpn_protocols(["h2"])
        content = [None if path is None else path.read_bytes() for path in (authority, certificate, key)]
        return cls(GRPCCredentialsTLS(cacert=content[0], cert=content[1], private_key=content[2]), context)


class ConnectionOfItsOwn(GRPCOptions):
    """Options of a channel that shares no connection with the other channels of this process.

    A shared connection pauses after a refused attempt. So a request to a new switch would fail if another part of the
    process sent a request too early.
    """

    def to_native(self) -> GRPCChannelArgumentType:
        """The options in the format of gRPC."""
        return [*super().to_native(), ("grpc.use_local_subchannel_pool", 1)]


def channel(address: str, tls: Tls | None) -> grpc.aio.Channel:
    """A connection to a server."""
    return grpc_channel(address, credentials=None if tls is None else tls.credentials, options=ConnectionOfItsOwn())


def trouble(address: str, tls: Tls | None) -> str | None:
    """The TLS error between this client and the server at `address`; None if there is none."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    try:
        plain = socket.create_connection((host, int(port)), timeout=TIMEOUT_S)
    except OSError:
        return None
    with plain:
        return _speaks(plain, host) if tls is None else _refuses(plain, host, tls.context)


def _speaks(plain: socket.socket, host: str) -> str | None:
    """The error of a client without TLS if the server uses TLS; otherwise None. Needs no trust in the server."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    try:
        context.wrap_socket(plain, server_hostname=host).close()
    except OSError:
        return None
    return "speaks TLS; --cacert FILE names the authority of its certificate"


def _refuses(plain: socket.socket, host: str, context: ssl.SSLContext) -> str | None:
    """Reason why client and server do not trust each other."""
    try:
        with context.wrap_socket(plain, server_hostname=host) as stream:
            # a server refuses the client's certificate only after the handshake
            stream.recv(1)
    except ssl.SSLCertVerificationError as error:
        return _distrust(host, error)
    except TimeoutError:
        return None
    except OSError as error:
        alert = (error.reason if isinstance(error, ssl.SSLError) else None) or ""
        if "ALERT" in alert:
            return _refusal(alert)
        return "does not speak TLS; leave out --ssl, --cacert, --cert and --private-key"
    return None


def _readable(path: Path | None) -> None:
    try:
        if path is not None:
            path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error


def _distrust(host: str, error: ssl.SSLCertVerificationError) -> str:
    """Reason why the client refuses the server's certificate."""
    if error.verify_code in _UNKNOWN_AUTHORITY:
        return "has a certificate of an authority that --cacert does not name"
    if error.verify_code in _MISMATCH:
        return f"has a certificate that is not for {host}; 'p4sched certificates' has --name and --address"
    return f"has a certificate that is not valid: {error.verify_message}"


def _refusal(alert: str) -> str:
    """Reason why the server refuses the client, from OpenSSL's name of its alert."""
    if "CERTIFICATE_REQUIRED" in alert or "HANDSHAKE_FAILURE" in alert:
        return "lets in only clients with a certificate: --cert and --private-key"
    if "UNKNOWN_CA" in alert:
        return "does not know the authority of the certificate in --cert"
    if "EXPIRED" in alert:
        return "says that the certificate in --cert has expired"
    return f"refuses the certificate in --cert ({alert.rpartition('ALERT_')[2].replace('_', ' ').lower()})"
