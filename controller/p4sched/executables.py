"""Whether an installed file of machine code is whole, and for this machine."""

import os
import platform
import struct
from pathlib import Path

_MACHINES = {"x86_64": 62, "aarch64": 183}
"""Numbers of the machines in `e_machine` of a file (System V ABI, chapter 4)."""
_HEADER = struct.Struct("<4s 14x H 20x Q 10x H H 2x")
"""Of the ELF header of 64 bits: magic, machine, place of the table of sections, size and number of its entries."""


def fault(path: Path) -> str | None:
    """What is wrong with the file; None if nothing is. The table of sections is the end of a file, so a file that
    ends before it was not written to its end."""
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER.size)
            size = os.fstat(file.fileno()).st_size
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if len(header) < _HEADER.size:
        return "is incomplete"
    magic, machine, sections, entry, entries = _HEADER.unpack(header)
    here = platform.machine()
    if magic != b"\x7fELF" or machine != _MACHINES.get(here, machine):
        return f"is not a program for this machine, which is {here}"
    return "is incomplete" if sections + entry * entries > size else None
