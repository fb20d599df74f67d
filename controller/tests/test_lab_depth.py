"""Where ingress learns the length of the queues from: what is refused, and how a worker packet is paced."""

import pytest

from p4sched.errors import UsageError
from p4sched.lab.depth import Depth, Worker, depth_for, recirculation_port, worker_for
from p4sched.lab.experiment import SwitchKind
from p4sched.p4rt.target import Target


def test_a_switch_knows_the_depth_as_well_as_it_can_unless_asked_otherwise() -> None:
    assert depth_for(None, SwitchKind.EMBEDDED) == Depth.EXACT
    assert depth_for(None, SwitchKind.BMV2) == Depth.REGISTER
    assert depth_for(Depth.WORKER, SwitchKind.BMV2) == Depth.WORKER
    with pytest.raises(UsageError, match="BMv2's traffic manager keeps no register; use register or worker"):
        depth_for(Depth.EXACT, SwitchKind.BMV2)


def test_a_tofino_knows_the_depth_in_its_own_ways() -> None:
    assert depth_for(None, SwitchKind.EMBEDDED, Target.TNA) == Depth.REGISTER
    assert depth_for(Depth.WORKER, SwitchKind.EMBEDDED, Target.TNA) == Depth.WORKER
    assert depth_for(None, SwitchKind.EMBEDDED, Target.T2NA) == Depth.EXACT
    with pytest.raises(UsageError, match="--depth exact: the programs for tna do not support it; use register or w"):
        depth_for(Depth.EXACT, SwitchKind.EMBEDDED, Target.TNA)
    with pytest.raises(UsageError, match="--depth worker: the programs for t2na do not support it; use exact"):
        depth_for(Depth.WORKER, SwitchKind.EMBEDDED, Target.T2NA)


def test_only_aifo_takes_worker_packets() -> None:
    assert worker_for(Depth.REGISTER, 1_000_000, ["packs"]) is None
    assert worker_for(Depth.WORKER, 1_000_000, ["aifo"]) == Worker(510, 1_000_000)
    assert worker_for(Depth.WORKER, 1_000_000, ["aifo"], Target.TNA) == Worker(68, 1_000_000)
    with pytest.raises(UsageError, match=r"not packs\.p4"):
        worker_for(Depth.WORKER, 1_000_000, ["aifo", "packs"])
    with pytest.raises(UsageError, match="at least 100us"):
        worker_for(Depth.WORKER, 99_999, ["aifo"])


def test_a_pass_takes_the_time_on_the_port_and_that_of_recirculation() -> None:
    # 22 bytes in the 90 us that are left of 100
    assert recirculation_port(510, bmv2=False, pass_ns=100_000, frame_bytes=22).rate_bps == 1_955_555
    assert recirculation_port(510, bmv2=True, pass_ns=100_000, frame_bytes=22).queues[0].rate_pps == 10_000
