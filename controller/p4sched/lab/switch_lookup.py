"""The switches of the running lab, by name."""

import json
from pathlib import Path

from p4sched.control.controller import SwitchAddress
from p4sched.errors import P4schedError, UsageError, unknown_name
from p4sched.json_records import MALFORMED
from p4sched.lab.ledger import FOLDER, STATE_FILE
from p4sched.lab.processes import ProcessIdentity

STATE = FOLDER / STATE_FILE
"""File of the running lab, with its process and its switches: {"run": {"pid": 123, "start_ticks": 456},
"switches": {"s1": {"address": "127.0.0.1:9559", "device_id": 1}}}."""


def find_switch(name: str, state_file: Path = STATE) -> SwitchAddress:
    """Finds a switch of the running lab by its name. HOST:PORT means device 1 at this address."""
    host, colon, port = name.rpartition(":")
    if colon:
        if not host or not port.isdecimal() or not 0 < int(port) < 65536:
            raise UsageError(f"'{name}' is not HOST:PORT, for example 127.0.0.1:9559")
        return SwitchAddress(name)
    try:
        found = json.loads(state_file.read_text())
        running = "run" in found and ProcessIdentity(**found["run"]).alive()
        switches = {known: SwitchAddress(**switch) for known, switch in found["switches"].items()}
    except FileNotFoundError:
        running, switches = False, {}
    except MALFORMED as error:
        raise P4schedError(f"{state_file}: not the state of a lab: {error}") from error
    if not running:
        raise P4schedError(f"no lab is running, so there is no switch '{name}'; HOST:PORT works as well")
    if name not in switches:
        raise unknown_name("switch", name, switches)
    return switches[name]
