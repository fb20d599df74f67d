"""The two-level PIFO tree of Sivaraman et al. (SIGCOMM 2016), by hand."""

from p4sched.folders.description import read
from p4sched.folders.models import load
from p4sched.model import FULL, Model, Packet, Queued
from p4sched.paths import SCHEDULERS_DIR

DESCRIBED = read(SCHEDULERS_DIR / "pifo_tree").model
assert DESCRIBED is not None
KIND = load(DESCRIBED)


def packet(number: int, user: int, rank: int) -> Packet:
    return Packet(number, rank, user, user, 1000)


def left(model: Model, count: int) -> list[int]:
    """Numbers of the next packets to leave."""
    packets = [model.dequeue(0) for _ in range(count)]
    return [each.id for each in packets if each is not None]


def test_tenants_take_turns_by_weight_and_the_most_urgent_packet_of_a_tenant_leaves() -> None:
    """Tenant 1 has the weight 1: its turns start at 0 and 1000. Tenant 4 has 4: 0, 250, 500, 750."""
    model = KIND({"tenants": 4})
    for number, (user, rank) in enumerate([(1, 5), (1, 1), (4, 9), (4, 2), (4, 7), (4, 8)]):
        assert model.enqueue(packet(number, user, rank), 0) == Queued()
    assert left(model, 6) == [1, 3, 4, 5, 2, 0]
    assert len(model) == 0


def test_a_late_urgent_packet_takes_the_first_turn_of_its_tenant() -> None:
    model = KIND({"tenants": 4})
    for number, rank in enumerate([4, 5]):
        model.enqueue(packet(number, 3, rank), 0)
    model.enqueue(packet(2, 3, 0), 0)
    assert left(model, 3) == [2, 0, 1]


def test_a_full_leaf_pushes_out_its_largest_rank_and_leaves_other_tenants_alone() -> None:
    model = KIND({"tenants": 4})
    for number in range(20):
        model.enqueue(packet(number, 2, number), 0)
    assert model.enqueue(packet(20, 2, 19), 0) is FULL
    assert model.enqueue(packet(21, 2, 3), 0) == Queued(pushed_out=packet(19, 2, 19))
    assert model.enqueue(packet(22, 1, 99), 0) == Queued()
    assert len(model) == 21


def test_a_user_without_a_leaf_has_that_of_the_first_tenant() -> None:
    model = KIND({"tenants": 2})
    model.enqueue(packet(0, 1, 5), 0)
    model.enqueue(packet(1, 3, 4), 0)
    assert left(model, 2) == [1, 0]
