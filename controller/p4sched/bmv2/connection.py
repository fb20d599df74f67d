"""The services of a running switch over Thrift, and the names of its errors."""

from pathlib import Path
from typing import Any, NamedTuple

import thriftpy2
from thriftpy2.protocol import TBinaryProtocol, TMultiplexedProtocol
from thriftpy2.thrift import TClient, TException
from thriftpy2.transport import TBufferedTransport, TSocket

INTERFACE: Any = thriftpy2.load(str(Path(__file__).with_name("runtime.thrift")), module_name="bmv2_runtime_thrift")
"""Structures, exceptions and services of the interface."""

REFUSALS: dict[str, tuple[str, dict[int, str]]] = {
    "TableRefusal": (
        "table operation",
        {
            **dict(
                enumerate(
                    (
                        *("TABLE_FULL", "INVALID_HANDLE", "EXPIRED_HANDLE", "COUNTERS_DISABLED", "METERS_DISABLED"),
                        *("AGEING_DISABLED", "INVALID_TABLE_NAME", "INVALID_ACTION_NAME", "WRONG_TABLE_TYPE"),
                        *("INVALID_MBR_HANDLE", "MBR_STILL_USED", "MBR_ALREADY_IN_GRP", "MBR_NOT_IN_GRP"),
                        *("INVALID_GRP_HANDLE", "GRP_STILL_USED", "EMPTY_GRP", "DUPLICATE_ENTRY", "BAD_MATCH_KEY"),
                        *("INVALID_METER_OPERATION", "DEFAULT_ACTION_IS_CONST", "DEFAULT_ENTRY_IS_CONST"),
                        *("NO_DEFAULT_ENTRY", "INVALID_ACTION_PROFILE_NAME", "NO_ACTION_PROFILE_SELECTION"),
                        *("IMMUTABLE_TABLE_ENTRIES", "BAD_ACTION_DATA", "NO_TABLE_KEY"),
                    ),
                    1,
                )
            ),
            100: "ERROR",
        },
    ),
    "CounterRefusal": ("counter operation", {1: "INVALID_COUNTER_NAME", 2: "INVALID_INDEX", 3: "ERROR"}),
    "MeterRefusal": (
        "meter operation",
        {
            1: "INVALID_METER_NAME",
            2: "INVALID_INDEX",
            3: "BAD_RATES_LIST",
            4: "INVALID_INFO_RATE_VALUE",
            5: "INVALID_BURST_SIZE_VALUE",
            6: "ERROR",
        },
    ),
    "RegisterRefusal": ("register operation", {1: "INVALID_REGISTER_NAME", 2: "INVALID_INDEX", 3: "ERROR"}),
    "ValueSetRefusal": ("parser value set operation", {1: "INVALID_PARSE_VSET_NAME", 2: "ERROR"}),
    "SwapRefusal": ("swap operation", {1: "CONFIG_SWAP_DISABLED", 2: "ONGOING_SWAP", 3: "NO_ONGOING_SWAP"}),
    "PortRefusal": ("device manager operation", {1: "ERROR"}),
    "CrcRefusal": (
        "crc operation",
        {1: "INVALID_CALCULATION_NAME", 2: "WRONG_TYPE_CALCULATION", 3: "INVALID_CONFIG"},
    ),
    "MulticastRefusal": (
        "PRE operation",
        {1: "TABLE_FULL", 2: "INVALID_MGID", 3: "INVALID_MGRP_HANDLE", 4: "INVALID_L1_HANDLE", 5: "ERROR"},
    ),
    "MirroringRefusal": ("mirroring operation", {1: "SESSION_NOT_FOUND"}),
}
"""For each exception: the operation that failed, and the names of the error numbers."""


class Services(NamedTuple):
    """Thrift services of a switch."""

    standard: Any
    multicast: Any
    switch: Any


def connect(host: str, port: int) -> Services:
    """Connects to the services of the switch at this address.

    Fails with `OSError` or Thrift's transport exception if none listens there.
    """
    # the switch may have to translate a large program before it answers
    socket = TSocket(host, port, connect_timeout=5000, socket_timeout=60_000)
    transport = TBufferedTransport(socket)
    transport.open()

    def service(interface: Any, name: str) -> Any:
        # thriftpy2's stubs lack the multiplexed classes
        protocol: Any = TMultiplexedProtocol(TBinaryProtocol(transport), name)
        return TClient(interface, protocol)

    return Services(
        service(INTERFACE.Standard, "standard"),
        service(INTERFACE.SimplePreLAG, "simple_pre_lag"),
        service(INTERFACE.SimpleSwitch, "simple_switch"),
    )


def refusal(error: TException) -> str | None:
    """Message for an error of the switch; `None` for any other exception."""
    known = REFUSALS.get(type(error).__name__)
    if known is None:
        return None
    what, names = known
    code = getattr(error, "code", 0)
    return f"Invalid {what} ({names.get(code, code)})"
