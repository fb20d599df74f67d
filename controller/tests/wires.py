"""Two virtual links of a switch, for tests that run as root."""

import asyncio
import os
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lab import PATIENCE_S

IN_PORT, OUT_PORT = 1, 2
ETH_P_ALL = 3


@dataclass(frozen=True)
class Wires:
    """The far ends of the switch's two links."""

    near: Mapping[int, str]
    sender: socket.socket
    receiver: socket.socket

    async def departure(self) -> bytes:
        """The next frame that the switch sends."""
        loop = asyncio.get_running_loop()
        while True:
            frame, address = await asyncio.wait_for(loop.sock_recvfrom(self.receiver, 2048), PATIENCE_S)
            if address[2] != socket.PACKET_OUTGOING:
                return frame


@contextmanager
def wires() -> Iterator[Wires]:
    """Two virtual links, named after this process."""
    ends = {port: (f"p4t{os.getpid()}.{port}", f"p4t{os.getpid()}.{port}x") for port in (IN_PORT, OUT_PORT)}
    try:
        for near, far in ends.values():
            subprocess.run(["ip", "link", "add", near, "type", "veth", "peer", "name", far], check=True)
            for name in (near, far):
                quiet = Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6")
                if quiet.exists():
                    quiet.write_text("1")
                subprocess.run(["ip", "link", "set", name, "up"], check=True)
        with _packet_socket(ends[IN_PORT][1]) as sender, _packet_socket(ends[OUT_PORT][1]) as receiver:
            yield Wires({port: near for port, (near, _) in ends.items()}, sender, receiver)
    finally:
        for near, _ in ends.values():
            subprocess.run(["ip", "link", "delete", near], check=False, capture_output=True)


def _packet_socket(interface: str) -> socket.socket:
    # Protocol 0: until it is bound, a socket with a protocol receives the frames of every interface.
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    opened.bind((interface, ETH_P_ALL))
    opened.setblocking(False)
    return opened
