"""The queues as text."""

from typing import Any

from rich.console import Console

from p4sched.live.text import SPARKS, TextView, sizes_of, spark


def shown(view: TextView, height: int = 60) -> list[list[str]]:
    """The words of each line, without the sparkline's blanks."""
    console = Console(width=160, height=height)
    with console.capture() as capture:
        console.print(view)
    return [line.split() for line in capture.get().splitlines()]


def scene(discipline: str, sizes: dict[str, int]) -> dict[str, Any]:
    """A switch with one port whose queues can grow, and one whose queues cannot."""
    busy = {"port": 5, "rate": 10**8, "discipline": discipline, "busy": True, "sizes": sizes}
    other = {"port": 1, "rate": 0, "discipline": "fifo", "busy": False, "sizes": {"0": 100}}
    return {"kind": "scene", "title": "x", "switches": {"s1": {"ports": [busy, other]}}}


def frame(time_s: float, *lengths: int) -> dict[str, Any]:
    """An update, as JSON gives it."""
    return {
        "kind": "frame",
        "t": time_s,
        "s": {"s1": {"q": {"5": lengths}, "tx": {"5": 40_000}, "drop": {"5": [3, 4, 0]}}},
    }


def test_a_line_for_each_queue_of_the_ports_where_packets_wait() -> None:
    view = TextView()
    view.take(scene("strict", {str(queue): 1000 for queue in range(8)}))
    view.take({"kind": "parameters", "switch": "s1", "port": None, "values": {"size_1": 10, "size_2": 10, "size_3": 0}})
    view.take(frame(1.0, 0, 0, 0, 0, 0, 0, 10, 2))
    assert shown(view) == [
        ["port", "queue", "length", "Mbit/s", "drops/s"],
        ["s1:5", "queue", "1", "2", "of", "10", "▂", "40.0", "7"],
        ["queue", "2", "10", "of", "10", "█"],
    ]


def test_a_port_with_one_buffer_has_one_line() -> None:
    view = TextView()
    view.take(scene("fifo", {"0": 80}))
    view.take(frame(1.0, 40))
    assert shown(view)[1] == ["s1:5", "queue", "40", "of", "80", "▄", "40.0", "7"]


def test_a_port_that_a_frame_leaves_out_has_empty_queues() -> None:
    view = TextView()
    view.take(scene("fifo", {"0": 8}))
    view.take(frame(1.0, 8))
    view.take({"kind": "frame", "t": 1.25, "s": {"s1": {"q": {}, "tx": {}, "drop": {}}}})
    assert shown(view)[1] == ["s1:5", "queue", "0", "of", "8", "█", "0.0", "0"]


def test_of_more_queues_than_fit_those_are_shown_in_which_packets_wait() -> None:
    view = TextView()
    view.take(scene("strict", {str(queue): 1000 for queue in range(8)}) | {"time": "virtual"})
    view.take(frame(1.0, 0, 3, 0, 0, 0, 0, 0, 0))
    assert [line[:4] for line in shown(view, height=14)] == [
        ["port", "queue", "length", "Mbit/s"],
        ["s1:5", "queue", "1", "0"],
        ["queue", "7", "3", "of"],
        ["1.0", "s", "of", "virtual"],
    ]


def test_a_sparkline_shows_the_longest_queue_of_each_quarter_of_a_second() -> None:
    view = TextView()
    view.take(scene("fifo", {"0": 8}))
    for number, length in enumerate((1, 8, 2, 0, 0, 4, 0, 0, 0, 0, 0)):
        view.take(frame(1 + number / 20, length))
    assert shown(view)[1][5:7] == ["█▄", "40.0"]


def test_full_height_is_a_full_queue() -> None:
    assert spark([0, 1, 50, 100], 100) == " ▁▄█".rjust(SPARKS)
    assert sizes_of({"depth_1": 40, "depth_2": 20, "depth_3": 0}) == {7: 40, 6: 20}
    assert sizes_of({"capacity_packets": 30, "target_packets": 20}) == {0: 30}
