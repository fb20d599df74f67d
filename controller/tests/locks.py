"""The lock files of Python packages."""

import re

from p4sched.paths import ROOT

PIN = re.compile(r"^([\w.-]+)==(\S+) \\\n((?: +--hash=\S+(?: \\)?\n)+)", re.MULTILINE)


def pins(lock: str) -> dict[str, tuple[str, list[str]]]:
    """Version and hashes of each package of a lock file."""
    found = PIN.findall((ROOT / lock).read_text(encoding="utf-8"))
    assert found
    return {name: (version, hashes.split()) for name, version, hashes in found}
