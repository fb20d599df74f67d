"""What the ranked experiments make of their measurements: shares in phases, inversions counted from logs."""

from collections import Counter
from itertools import pairwise

import pytest

from experiments.inversions import departures
from experiments.inversions.departures import ReceivedPacket
from p4sched.control.laws.headroom import headroom_numerator
from p4sched.control.parameters import MAX_WINDOW, Comparison, equal_buffers
from p4sched.errors import UsageError
from p4sched.lab import ranked_join_leave as join_leave
from p4sched.lab.measurement import Sample
from p4sched.lab.ranked_schemes import NAMES
from p4sched.lab.sized_flows import parse_loads
from p4sched.results import completion
from p4sched.schemes import find_scheme
from p4sched.units import Duration

RATE = 100_000_000


def test_a_later_flow_starts_later_and_stops_earlier() -> None:
    schedule = join_leave.Schedule.over(Duration.parse("35s"))
    assert [schedule.start(flow) for flow in (1, 2, 3, 4)] == [0, 5, 10, 15]
    assert [schedule.stop(flow) for flow in (1, 2, 3, 4)] == [35, 30, 25, 20]
    assert [len(schedule.active(phase)) for phase in range(7)] == [1, 2, 3, 4, 3, 2, 1]
    for phase in range(7):
        middle = (phase + 0.5) * schedule.phase_s
        sending = [flow for flow in (1, 2, 3, 4) if schedule.start(flow) < middle < schedule.stop(flow)]
        assert sending == schedule.active(phase)


def test_a_run_too_short_for_its_phases_is_refused() -> None:
    with pytest.raises(UsageError, match="phases"):
        join_leave.Schedule.over(Duration.parse("6s"))


def most_urgent_wins(schedule: join_leave.Schedule, begun: float, late_s: float) -> list[Sample]:
    """The most urgent flow gets all of the link, `late_s` after each change."""
    samples = []
    for tick in range(round(schedule.seconds / join_leave.SAMPLE_S)):
        start = tick * join_leave.SAMPLE_S
        phase = int(max(0.0, start - late_s) / schedule.phase_s)
        winner = schedule.active(phase)[-1]
        rates = tuple(float(RATE) if flow == winner else 0.0 for flow in (1, 2, 3, 4))
        samples.append(Sample(begun + start, begun + start + join_leave.SAMPLE_S, rates))
    return samples


def test_the_share_of_the_most_urgent_flow_leaves_out_the_start_of_each_phase() -> None:
    schedule = join_leave.Schedule.over(Duration.parse("28s"))
    prompt = join_leave.summarise(join_leave.phase_shares(most_urgent_wins(schedule, 7.0, 0.5), schedule, 7.0, RATE))
    assert prompt["most_urgent_share"] == 1.0
    assert prompt["most_urgent_share_leaving"] == 1.0
    slow = join_leave.summarise(join_leave.phase_shares(most_urgent_wins(schedule, 7.0, 3.5), schedule, 7.0, RATE))
    assert slow["most_urgent_share"] == 0.0


def stream(ranks_in_order_of_departure: list[tuple[int, int]], packet_ns: int, gap_ns: int) -> list[ReceivedPacket]:
    """(sequence, rank) as they leave, back to back; packet n was sent at n * gap. 5 us of latency, no jitter."""
    return [
        ReceivedPacket(sequence, rank, sequence * gap_ns, place * packet_ns + packet_ns + 5_000)
        for place, (sequence, rank) in enumerate(ranks_in_order_of_departure)
    ]


def test_inversions_are_those_of_the_worked_example() -> None:
    # three arrivals for each departure: 5 leaves at once, then 9, 1 and 2 wait; FIFO sends 9 before both
    fifo = stream([(0, 5), (1, 9), (2, 1), (3, 2)], 30_000, 10_000)
    assert departures.inversions(fifo, 30_000) == Counter({9: 1})
    pifo = stream([(0, 5), (2, 1), (3, 2), (1, 9)], 30_000, 10_000)
    assert departures.inversions(pifo, 30_000) == Counter()


def test_a_receiver_that_wakes_late_changes_nothing() -> None:
    exact = stream([(0, 5), (1, 9), (2, 1), (3, 2), (4, 7), (5, 3), (6, 4)], 30_000, 20_000)
    late = [
        ReceivedPacket(p.sequence, p.rank, p.sent_ns, p.received_ns + (25_000 if place in (2, 3) else 0))
        for place, p in enumerate(exact)
    ]
    assert departures.starts(late, 30_000) == departures.starts(exact, 30_000)
    assert departures.inversions(late, 30_000) == departures.inversions(exact, 30_000)
    gaps = [later - earlier for earlier, later in pairwise(departures.starts(late, 30_000))]
    assert gaps == [30_000] * 6


def test_drops_are_what_was_sent_and_never_arrived() -> None:
    received = stream([(0, 5), (2, 1)], 30_000, 10_000)
    found = departures.outcome(Counter({5: 1, 1: 1, 9: 1, 3: 2}), received, 30_000, 10)
    assert [rank for rank, count in enumerate(found.drops) for _ in range(count)] == [3, 3, 9]
    assert found.lowest_rank_dropped == 3
    assert departures.outcome(Counter(), [], 30_000, 10).lowest_rank_dropped is None


@pytest.mark.parametrize("queues", [8, 4])
@pytest.mark.parametrize("name", NAMES)
def test_every_scheme_holds_the_same_packets_in_the_comparison_of_equal_buffers(name: str, queues: int) -> None:
    ranked = find_scheme(name).for_comparison(equal_buffers(80, 32, queues=queues))
    assert sum(ranked.queue_sizes) == 80
    assert ranked.parameters is not None
    data = ranked.parameters.action_data()
    rooms = [value for key, value in data.items() if key.startswith("size_")]
    assert rooms in ([], [80 // queues] * queues + [0] * (8 - queues))
    assert data.get("window_ranks", 32) == 32


def test_impossible_parameters_are_refused_by_name() -> None:
    with pytest.raises(UsageError, match=f"1 to {MAX_WINDOW}"):
        equal_buffers(80, 33)
    with pytest.raises(UsageError, match="k = 1"):
        equal_buffers(80, 16, 1.0)
    with pytest.raises(UsageError, match="T = 0"):
        Comparison(80, tracking=0)
    with pytest.raises(UsageError, match="a buffer of 0 packets: it must be 1 to 65535"):
        equal_buffers(0, 16)
    with pytest.raises(UsageError, match="9 queues: the programs were compiled for 1 to 8"):
        equal_buffers(81, 16, queues=9)
    with pytest.raises(UsageError, match="split"):
        equal_buffers(81, 16)
    with pytest.raises(UsageError, match="sp_pifo"):
        find_scheme("sp_pfo")


def test_headroom_never_reaches_one() -> None:
    assert headroom_numerator(0.1) == 26
    assert headroom_numerator(0.2) == 52, "a queue of 4 of 20 packets is within it"
    assert headroom_numerator(0.5) == 128
    assert headroom_numerator(0.999999) == 255


def test_flows_not_done_are_counted_and_left_out_of_the_times() -> None:
    planned = [
        {"flow": number, "size_bytes": size, "start_s": 0.5 * number}
        for number, size in enumerate((5_000, 6_000, 50_000, 200_000, 1_000))
    ]
    completed = [{"flow": number, "fct_ns": number * 10_000_000 + 10_000_000} for number in (0, 1, 2, 3)]
    found = completion.summarise(completion.combine_reports(planned, completed), 0.1)
    assert (found["flows"], found["not_completed"], found["small_flows"], found["large_flows"]) == (5, 1, 2, 1)
    assert found["small_mean_ms"] == pytest.approx(15.0)
    assert found["small_median_ms"] == pytest.approx(10.0)
    assert found["small_p99_ms"] == pytest.approx(20.0)
    assert found["small_over_1s"] == 0
    assert found["large_mean_ms"] == pytest.approx(40.0)


def test_a_small_flow_that_lost_its_opening_segment_is_counted() -> None:
    flows = [completion.Flow(5_000, seconds) for seconds in (0.004, 1.004, 3.1)] + [completion.Flow(200_000, 2.0)]
    assert completion.summarise(flows, 0.1)["small_over_1s"] == 2


def test_percentiles_are_values_that_were_measured() -> None:
    assert completion.percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert completion.percentile([float(value) for value in range(1, 101)], 0.99) == 99.0
    assert completion.percentile([], 0.99) is None


@pytest.mark.parametrize("text", ["1.2", "0", "-0.5", "0.2,x", ""])
def test_an_impossible_load_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="load"):
        parse_loads(text)
