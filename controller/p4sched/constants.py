"""Sizes and well-known numbers that programs and controllers share, from p4/shared/constants.p4."""

import re
from collections.abc import Mapping

from p4sched.errors import P4schedError
from p4sched.paths import CONSTANTS_FILE

DEFINITION = re.compile(r"^(?:#define|const bit<\d+>) (?P<name>\w+)(?: =)? (?P<value>0x[0-9a-f]+|\d+);?$", re.MULTILINE)


def definitions(text: str) -> Mapping[str, int]:
    """The named numbers of a P4 file: constants and numeric macros."""
    return {found["name"]: int(found["value"], 0) for found in DEFINITION.finditer(text)}


_DEFINED = definitions(CONSTANTS_FILE.read_text(encoding="utf-8"))


def _defined(name: str) -> int:
    if name not in _DEFINED:
        raise P4schedError(f"{CONSTANTS_FILE} has no {name}")
    return _DEFINED[name]


CPU_PORT = _defined("CPU_PORT")
"""Port of packets from and to the controller."""
ECMP_BUCKETS = _defined("ECMP_BUCKETS")
"""Buckets of each group: a flow's hash selects one."""
ETHERTYPE_WORKER = _defined("ETHERTYPE_WORKER")
"""EtherType of worker packets."""
MAX_PORTS = _defined("MAX_PORTS")
MAX_USERS = _defined("MAX_USERS")
"""Users are 1 .. MAX_USERS - 1."""
LENGTH_REPORT_BYTES = _defined("LENGTH_REPORT_BYTES")
"""Bytes of a departing frame that follow its report, on Tofino 1."""
LENGTH_REPORT_SESSION = _defined("LENGTH_REPORT_SESSION")
"""Clone session of these reports."""
RANK_PORT = _defined("RANK_PORT")
"""First UDP port whose datagrams begin with a rank header."""
RANK_STATIC = _defined("RANK_STATIC")
RANK_HEADER = _defined("RANK_HEADER")
RANK_TOS = _defined("RANK_TOS")
RANK_STFQ = _defined("RANK_STFQ")
RECIRCULATION_PORT_V1MODEL = _defined("RECIRCULATION_PORT_V1MODEL")
"""Port whose packets return to ingress."""
RECIRCULATION_PORT_TNA = _defined("RECIRCULATION_PORT_TNA")
RECIRCULATION_PORT_T2NA = _defined("RECIRCULATION_PORT_T2NA")
