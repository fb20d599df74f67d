"""What is read from the kernel's tables, and what is made of it."""

import asyncio
from collections.abc import Mapping

import pytest

from p4sched.lab import machine, tcp_counters, traffic
from p4sched.lab.emulated import iperf3
from p4sched.lab.fidelity import Fidelity
from p4sched.lab.measurement import Reading, rates_between, sample_rates
from p4sched.lab.probe import ProbeRecord
from p4sched.lab.virtual.loop import VirtualLoop

SNMP = "Ip: Forwarding\nIp: 1\nTcp: RtoMin OutSegs RetransSegs\nTcp: 200 1000 7\n"
NETSTAT = (
    "TcpExt: TCPSACKReorder TCPTSReorder TCPTimeouts TCPDSACKUndo TCPFullUndo TCPSynRetrans\nTcpExt: 3 2 1 5 6 4\n"
    "IpExt: InNoRoutes\nIpExt: 0\n"
)


def test_tcp_counters_come_from_both_tables() -> None:
    counters = tcp_counters.parse(SNMP, NETSTAT)
    assert (counters.segments_sent, counters.segments_retransmitted, counters.timeouts) == (1000, 7, 1)
    assert counters.syn_retransmissions == 4
    assert counters.reorderings == 5
    assert counters.spurious_recoveries == 11


def test_tcp_counters_add_over_hosts_and_subtract_over_time() -> None:
    counters = tcp_counters.parse(SNMP, NETSTAT)
    assert counters + counters - counters == counters


def test_this_machines_own_tables_are_understood() -> None:
    assert tcp_counters.read_counters([1]).segments_sent >= 0
    reading = machine.read_machine()
    assert reading.idle_ticks + reading.busy_ticks > 0


def test_shares_are_of_all_cpus_between_two_readings() -> None:
    earlier = machine.parse("cpu 100 0 100 200 0 0 0 0 0 0\n", "0000 00000002\n0000 00000001\n")
    later = machine.parse("cpu 150 0 120 225 0 0 0 5 0 0\n", "0000 0000000a\n0000 00000001\n")
    use = later.since(earlier)
    assert use.idle_share == pytest.approx(0.25)
    assert use.stolen_share == pytest.approx(0.05)
    assert use.backlog_dropped == 8


def test_listening_ports_are_those_in_state_listen() -> None:
    rows = ["sl local_address rem_address st", "0: 00000000:1452 00000000:0000 0A", "1: 0100000A:1453 0200000A:9999 01"]
    table = "\n".join(rows)
    assert iperf3.listening_ports(table) == {5202}


def test_an_iperf3_report_without_totals_is_no_report() -> None:
    assert traffic.read_report('{"end": {}, "error": "unable to connect"}') is None
    assert traffic.read_report("") is None
    report = traffic.read_report(
        '{"end": {"sum_sent": {"retransmits": 4}, "sum_received": {"bits_per_second": 2.5e7}}}'
    )
    assert report == traffic.TransferReport(2.5e7, 4)


def good(**changes: object) -> Fidelity:
    observed = {
        "rtt_ns": 10_000_000,
        "cpu_idle_share": 0.3,
        "backlog_dropped": 0,
        "frames": 1_000_000,
        "lateness_p50_ns": 20_000,
        "lateness_p99_ns": 400_000,
        "rx_lost": 0,
        "tx_errors": 0,
    }
    return Fidelity(**(observed | changes))  # type: ignore[arg-type]


def test_a_run_with_headroom_is_valid() -> None:
    assert good().valid


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"lateness_p99_ns": 1_100_000}, "late"),
        ({"rx_lost": 11}, "lost outside the bottleneck"),
        ({"backlog_dropped": 11}, "lost outside the bottleneck"),
        ({"tx_errors": 11}, "refused"),
        ({"cpu_idle_share": 0.02}, "idle"),
    ],
)
def test_each_sign_of_an_overloaded_emulator_makes_a_run_invalid(changes: dict[str, object], word: str) -> None:
    doubts = good(**changes).doubts()
    assert len(doubts) == 1
    assert word in doubts[0]


def test_late_frames_of_a_virtual_machine_that_was_held_up_are_told_apart() -> None:
    held_up = "; the hypervisor took 2.0% of the CPU away"
    assert good(cpu_stolen_share=0.02).valid
    assert good(cpu_stolen_share=0.02, lateness_p99_ns=1_100_000).doubts()[0].endswith(held_up)
    assert "hypervisor" not in good(lateness_p99_ns=1_100_000).doubts()[0]


def test_a_switch_that_reports_no_lateness_is_named_as_such() -> None:
    assert good(lateness_p99_ns=None, rx_lost=None).unknown() == ["lateness", "frames lost before the switch"]


def test_rates_are_bytes_over_the_time_between_readings() -> None:
    sample = rates_between(Reading(1.0, {1: 1000}), Reading(3.0, {1: 251_000, 2: 500}), [1, 2, 3])
    assert sample.rates == (1_000_000.0, 2000.0, 0.0)


def test_samples_keep_their_grid_when_a_read_is_slow() -> None:
    delivered = 0

    async def read() -> Mapping[int, int]:
        nonlocal delivered
        delivered += 1
        if delivered == 2:
            await asyncio.sleep(0.03)
        return {1: delivered}

    async def measure() -> list[float]:
        start = asyncio.get_running_loop().time()
        samples = await sample_rates(read, [1], count=4, interval=0.05)
        return [sample.end - start for sample in samples]

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        ends = runner.run(measure())
    # a reading is dated to the middle of its read
    assert ends == pytest.approx([0.065, 0.1, 0.15, 0.2])


PROBE = ProbeRecord(6, ((0, 0.0, 0.1), (1, 1.0, 1.1), (3, 3.0, 3.1), (2, 2.0, 3.2), (5, 5.0, 5.1)))


def test_the_probe_shows_losses_reordering_and_gaps() -> None:
    assert PROBE.lost() == [4]
    assert PROBE.reordered() == 1
    assert PROBE.largest_gap(0.0, 5.1) == pytest.approx(2.0)


def test_a_lost_probe_packet_is_dated_by_when_it_was_sent() -> None:
    assert PROBE.lost_between(3.5, 4.5, period=1.0) == 1
    assert PROBE.lost_between(0.0, 3.5, period=1.0) == 0
