"""Checks whether the machine disturbed the emulation."""

from collections.abc import Sequence

from p4sched.lab.fidelity import Fidelity, Health, fidelity_of_all
from p4sched.lab.machine import MachineUse, read_machine
from p4sched.p4rt.traffic_manager import Fidelity as SwitchFidelity


class MachineHealth(Health):
    """Behaviour of the machine during a run."""

    def __init__(self, rtt_ns: int) -> None:
        self._rtt_ns = rtt_ns
        self._begun = read_machine()
        self._use: MachineUse | None = None

    def end(self) -> None:
        self._use = read_machine().since(self._begun)

    def fidelity(self, switches: Sequence[SwitchFidelity]) -> Fidelity:
        assert self._use is not None, "end() comes first"
        return fidelity_of_all(self._rtt_ns, self._use, switches)
