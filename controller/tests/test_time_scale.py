"""Which time scale a machine carries, from given measurements; and what is measured of this one."""

from dataclasses import replace

import pytest
from lab import on_embedded

from p4sched.errors import UsageError
from p4sched.lab import calibrate, time_scale
from p4sched.lab.calibrate import Capacity, from_windows, percentile
from p4sched.lab.errors import LabError
from p4sched.lab.machine import MachineUse
from p4sched.lab.time_scale import Base
from p4sched.p4rt.traffic_manager import Fidelity
from p4sched.units import Duration, Rate

QUIET = Capacity(
    cpus=2,
    full_frames_per_s=170_000,
    full_bits_per_s=2e9,
    frame_cpu_ns=10_000,
    switch_frame_cpu_ns=5_000,
    others_share=0.01,
    stolen_share=0.001,
    wakeup_real_time_p99_ns=100_000,
    wakeup_normal_p99_ns=150_000,
    lateness_p99_ns=200_000,
    lateness_p999_ns=400_000,
)
FAIRNESS = Base(Rate.parse("500mbit"), Duration.parse("10ms"), frames=1.4)


def test_rate_times_rtt_stays_at_every_scale() -> None:
    for scale in time_scale.scales(FAIRNESS):
        slowed = FAIRNESS.at(scale)
        assert slowed.rate * slowed.rtt == FAIRNESS.rate * FAIRNESS.rtt
    assert str(FAIRNESS.at(5)) == "100 Mbit/s with an RTT of 50 ms"


def test_round_trips_end_at_200_ms_where_the_shortest_retransmission_timeout_is_one() -> None:
    assert list(time_scale.scales(FAIRNESS)) == [1, 2, 4, 5, 10, 20]
    assert list(time_scale.scales(Base(Rate.parse("10mbit"), Duration.parse("300ms")))) == [1]
    assert list(time_scale.scales(replace(FAIRNESS, slowest=4))) == [1, 2, 4]


def test_a_machine_with_cpu_to_spare_and_frames_in_time_runs_at_the_base() -> None:
    # 500 Mbit/s are 41281 full frames/s; 1.4 times as many at 10 us each take 0.58 s of 2 CPUs' second
    assert FAIRNESS.cpu_share(QUIET) == pytest.approx(0.289, abs=0.001)
    assert time_scale.fastest(FAIRNESS, QUIET) == 1


@pytest.mark.parametrize(
    ("measured", "scale"),
    [
        # 0.289 times 3 is above the 75 % less 1 % that may be used, half of it is not
        (replace(QUIET, frame_cpu_ns=30_000), 2),
        # half of a tenth of the RTT: 1.5 ms need an RTT of 30 ms, so 40 ms
        (replace(QUIET, lateness_p99_ns=1_500_000), 4),
        # 2.25 ms need an RTT of 45 ms, so 50 ms
        (replace(QUIET, lateness_p99_ns=2_250_000), 5),
        # others leave 5 % below the room that stays idle
        (replace(QUIET, others_share=0.70), 10),
        # others leave nothing at any scale: as if they did not work
        (replace(QUIET, others_share=1.0, frame_cpu_ns=30_000), 2),
        (replace(QUIET, lateness_p99_ns=100_000_000), 20),
    ],
)
def test_the_scale_follows_what_the_machine_lacks(measured: Capacity, scale: int) -> None:
    assert time_scale.fastest(FAIRNESS, measured) == scale


def test_more_than_the_machine_carries_is_reported_with_what_fits() -> None:
    assert time_scale.warning(FAIRNESS, FAIRNESS, QUIET) is None
    busy = replace(QUIET, frame_cpu_ns=30_000, lateness_p99_ns=900_000)
    told = time_scale.warning(FAIRNESS, FAIRNESS, busy)
    assert told is not None
    assert told.startswith("500 Mbit/s with an RTT of 10 ms is more than this machine carries now: it takes 87%")
    assert "1 frame in 100 is 0.90 ms late; it should be 0.50 ms at most with an RTT of 10 ms" in told
    assert told.endswith("What fits is 250 Mbit/s with an RTT of 20 ms.")
    full = time_scale.warning(FAIRNESS, FAIRNESS, replace(QUIET, others_share=1.0))
    assert full is not None
    assert full.endswith("Nothing that this experiment can do fits now: let other work end first.")


@pytest.mark.parametrize(
    ("asked", "given", "measured", "scale", "why"),
    [
        (None, [], QUIET, 1, "the fastest that this machine carries"),
        (None, [], replace(QUIET, frame_cpu_ns=30_000), 2, "the fastest that this machine carries"),
        (4.0, ["--rate"], QUIET, 4, "as asked"),
        (None, ["--rtt"], replace(QUIET, frame_cpu_ns=30_000), 1, "--rtt is given"),
        (None, [], None, 1, "this switch is not measured"),
        (None, [], replace(QUIET, others_share=1.0), 1, "for a machine without other work"),
        (None, [], replace(QUIET, lateness_p99_ns=100_000_000), 20, "the slowest one"),
    ],
)
def test_a_run_goes_as_asked_else_as_given_else_as_fast_as_it_may(
    asked: float | None, given: list[str], measured: Capacity | None, scale: float, why: str
) -> None:
    found = time_scale.pace(FAIRNESS, asked, given, FAIRNESS.at, measured)
    assert (found.scale, found.why, found.goes) == (scale, why, FAIRNESS.at(scale))
    assert (found.warning() is None) == (measured is None or not found.goes.beyond(measured))


def test_a_time_scale_is_a_number_from_1_on_or_auto() -> None:
    assert time_scale.parse("auto") is None
    assert time_scale.parse("2.5") == 2.5
    for text in ("0.5", "21", "fast", "nan", "-1"):
        with pytest.raises(UsageError, match="give a number from 1 to 20, or auto"):
            time_scale.parse(text)


def window(departures: int, idle_share: float, cpu_s: float, lateness_p99_ns: int = 2) -> calibrate.Window:
    switch = Fidelity(1_000_000_000, departures, 1, lateness_p99_ns, 3_000_000, 4_000_000, 0, 0, 250_000_000)
    return calibrate.Window(switch, MachineUse(idle_share, 0.0, 0), 1e9, cpu_s)


def test_cpu_time_of_a_frame_is_what_traffic_took_beside_others() -> None:
    calm = MachineUse(idle_share=0.9, stolen_share=0.0, backlog_dropped=0)
    paced = [window(25_000, 0.60, 0.1), window(25_000, 0.70, 0.2)]
    found = from_windows(calm, [5], [7], window(100_000, 0.0, 2.0), paced)
    # two seconds at 65 % idle, less a tenth for others: 25 % of all CPUs
    assert found.frame_cpu_ns == pytest.approx(2 * 0.25 * found.cpus * 1e9 / 50_000)
    assert found.switch_frame_cpu_ns == 10_000
    # where others leave nothing idle, the processes' own time is what is known
    full = MachineUse(idle_share=0.0, stolen_share=0.0, backlog_dropped=0)
    found = from_windows(full, [5], [7], window(100_000, 0.0, 2.0), [window(50_000, 0.0, 0.3)])
    assert found.frame_cpu_ns == pytest.approx(0.3e9 / 50_000)


def test_one_stall_of_the_machine_does_not_make_it_a_late_one() -> None:
    calm = MachineUse(1.0, 0.0, 0)

    def late(*found_ns: int) -> int:
        paced = [window(50_000, 0.65, 0.3, lateness_ns) for lateness_ns in found_ns]
        return from_windows(calm, [5], [7], window(100_000, 0.0, 2.0), paced).lateness_p99_ns

    assert late(200_000, 190_000, 20_000_000, 210_000, 180_000) == 200_000
    assert late(900_000, 190_000, 20_000_000, 850_000, 180_000) == 850_000, "a machine that is late most of the time"


def test_a_switch_that_forwards_nothing_measures_no_machine() -> None:
    calm = MachineUse(1.0, 0.0, 0)
    with pytest.raises(LabError, match="no frame left the switch"):
        from_windows(calm, [5], [7], window(0, 0.9, 0.0), [window(1, 0.9, 0.0)])
    with pytest.raises(LabError, match="no frame left the switch"):
        from_windows(calm, [5], [7], window(1, 0.9, 0.0), [window(0, 0.9, 0.0)] * 2)


def test_the_99th_percentile_of_1_to_1000() -> None:
    assert percentile(range(1, 1001), 0.99) == 991


@on_embedded
def test_this_machine_is_measured_in_seconds_and_nothing_stays_behind() -> None:
    found = calibrate.capacity()
    assert found.full_frames_per_s > 0
    assert 0 < found.switch_frame_cpu_ns < found.frame_cpu_ns * 2
    assert 0 <= found.lateness_p99_ns <= found.lateness_p999_ns
    assert calibrate.capacity() is found


@pytest.mark.parametrize("full_bits_per_s", [0.0, 4e6, 1e9])
def test_the_calibration_has_a_paced_load_on_a_machine_of_any_speed(full_bits_per_s: float) -> None:
    link = calibrate.paced_link(full_bits_per_s)
    assert link.rate_bps >= calibrate.PACED_SHARE * full_bits_per_s
    assert link.bdp_packets >= 2
