"""Experiments with the best parameters of each scheme: what they choose, what they count, and that they run."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.cheating import closed_loop, tenants
from experiments.cheating import experiment as cheating
from experiments.fdpa_cheating import schemes as fdpa_schemes
from experiments.fdpa_cheating import users
from experiments.retransmissions import experiment as ranks_again
from experiments.retransmissions import traffic as retransmissions
from experiments.shared_buffer import experiment as shared_buffer
from experiments.shared_buffer import traffic as shared_traffic
from experiments.tenants import traffic
from p4sched import simulate
from p4sched.cli import main
from p4sched.control.bands import Bands
from p4sched.results.intervals import paired_ratio
from p4sched.sweep import compared, leaf_spine, tuned
from p4sched.sweep.compared import named
from p4sched.sweep.tuned import Candidate, Figures, Group, Measured, Seeds, ratio, tune
from p4sched.units import Duration


class Noted:
    """A run without a simulator, which notes that it ran."""

    def __init__(self, value: float, seed: int, ran: list[tuple[float, int]]) -> None:
        self.value, self.seed, self.ran = value, seed, ran

    def inputs(self) -> Any:
        return [self.value, self.seed]

    async def figures(self, _folder: Path) -> Figures:
        self.ran.append((self.value, self.seed))
        # a simulator takes time, too
        await asyncio.sleep(0)
        # the larger value is better with the seeds of the result
        return {"cost": self.value if self.seed < 3 else 10 - self.value}


def candidates(group: Group, values: Sequence[float], ran: list[tuple[float, int]]) -> list[Candidate]:
    return [
        Candidate(group, {"value": value}, lambda seed, value=value: Noted(value, seed, ran))  # type: ignore[misc]
        for value in values
    ]


def test_the_seeds_of_the_result_have_no_part_in_the_choice(tmp_path: Path) -> None:
    ran: list[tuple[float, int]] = []
    both = [*candidates({"scheme": "a"}, [4, 2, 3], ran), *candidates({"scheme": "b"}, [7], ran)]
    found = asyncio.run(tune(both, "cost", Seeds.of(1, 2, 3), tmp_path, lambda _: None))
    assert [each.candidate.parameters for each in found.best] == [{"value": 2}, {"value": 7}]
    assert sorted(seed for value, seed in ran if value == 2) == [1, 2, 3, 4, 5]
    assert sorted(seed for value, seed in ran if value == 4) == [1, 2]
    assert found.best[0].mean("cost") == 8
    assert found.best_of(lambda _: True).candidate.group == {"scheme": "a"}
    assert found.best[0].record(["cost"]) == {"scheme": "a", "value": 2, "cost": 8, "cost_low": 8, "cost_high": 8}
    assert ratio(found.best[0], found.best[1], "cost")["ratio"] == pytest.approx(8 / 3)


def test_among_many_ratios_fewer_are_certain() -> None:
    seeds = [[1.10, 1.14, 1.18], [1.05, 1.14, 1.25], [1.0, 1.0, 1.0], [0.9, 1.0, 1.2]]
    names = ("ratio", "ratio_low", "ratio_high")

    def certain(values: Sequence[Sequence[float]]) -> list[bool | None]:
        ratios = [paired_ratio(each, [1.0] * len(each)) for each in values]
        records: list[dict[str, Any]] = []
        for value, interval in ratios:
            assert interval is not None
            records.append(named("to_own", dict(zip(names, (value, *interval), strict=True))))
        compared.add_certain(records, 3)
        return [record["to_own_certain"] for record in records]

    # p = 0.023 and 0.13: certain alone, and not beside another comparison that could be the wrong one
    assert certain(seeds[:1]) == [True]
    assert certain([seeds[0], seeds[2]]) == [True, None]
    assert certain([seeds[0], seeds[1], seeds[3]]) == [False, False, False]


def test_a_ratio_without_an_interval_is_not_certain() -> None:
    records = [named("to_own", {"ratio": 1.2, "ratio_low": None, "ratio_high": None})]
    compared.add_certain(records, 1)
    assert records[0]["to_own_certain"] is None
    assert compared.shown(records[0], "to_own") == "1.20"


def test_settings_are_averaged_for_each_seed() -> None:
    def measured(load: float, values: Sequence[float]) -> Measured:
        group: Group = {"scheme": "aifo", "load": load, "memory": 120, "sharing": "own", "known": "fixed"}
        candidate = candidates(group, [1.0], [])[0]
        return Measured(candidate, [dict.fromkeys(shared_buffer.SLOWDOWNS, value) for value in values])

    (found,) = shared_buffer.over_settings([measured(0.4, [2.0, 3.0]), measured(0.8, [8.0, 12.0])])
    assert [seed["web"] for seed in found.seeds] == pytest.approx([4.0, 6.0])
    assert found.candidate.group == {"scheme": "aifo", "sharing": "own", "known": "fixed"}


def test_finished_runs_are_not_repeated(tmp_path: Path) -> None:
    ran: list[tuple[float, int]] = []
    one = candidates({"scheme": "a"}, [4], ran)
    first = asyncio.run(tune(one, "cost", Seeds.of(1, 1, 1), tmp_path, lambda _: None))
    damaged = next((tmp_path / "points").iterdir())
    damaged.write_text("{")
    again = asyncio.run(tune(one, "cost", Seeds.of(1, 1, 1), tmp_path, lambda _: None))
    assert len(ran) == 3
    assert [each.seeds for each in again.best] == [each.seeds for each in first.best]


def test_settings_that_are_the_same_run_share_its_result(tmp_path: Path) -> None:
    ran: list[tuple[float, int]] = []
    one = candidates({"scheme": "a"}, [4, 4], ran)
    found = asyncio.run(tuned.repeat(one, [1], tmp_path, lambda _: None))
    assert ran == [(4, 1)]
    assert found[0].seeds == found[1].seeds


def test_another_build_of_the_simulator_has_another_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    binary = tmp_path / "p4sched-simulate"
    monkeypatch.setattr(tuned, "rust_binary", lambda _: binary)
    found = []
    for content in ("one", "another", "one"):
        binary.write_text(content)
        found.append(tuned.binary_hash(simulate.BINARY))
    assert found[0] == found[2] != found[1]


def test_a_flow_alone_takes_the_time_of_its_frames_and_links() -> None:
    for source, destination in (("h1", "h2"), ("h1", "h16")):
        for size in (100, 1448, 14_480):
            scenario = leaf_spine.scenario(simulate.Ports("fifo"), {"control": "new_reno"}, 0.5, 1_000_000, 1)
            scenario = scenario.with_(flows=[simulate.Flow(source, destination, size)])
            took = simulate.run(scenario).flows["completion_s"][0]
            alone = leaf_spine.alone_s(np.array([size]), np.array([destination == "h2"]))[0]
            # a flow of ten frames fits into the first window
            assert took == pytest.approx(alone, rel=0.01), (source, destination, size)


def test_a_flow_alone_waits_for_longer_links() -> None:
    ports, delay_ns = simulate.Ports("fifo"), 100_000
    scenario = leaf_spine.scenario(ports, {"control": "new_reno"}, 0.5, 1_000_000, 1, delay_ns=delay_ns)
    result = simulate.run(scenario.with_(flows=[simulate.Flow("h1", "h16", 14_480)]))
    assert leaf_spine.slowdowns(result, delay_ns) == pytest.approx(1, rel=0.01)
    assert leaf_spine.slowdowns(result)[0] > 1.5


def test_a_delay_that_leaves_no_time_for_flows_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run_command(["run", "stale_lengths", "--quick", "--delay", "201us"]) == 2
    assert "--delay 201us: at most a hundredth of --duration, 20ms" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "0", "1/2", "nan", "1e999999999", "0.001", "0.5,0.501"])
def test_wrong_alphas_are_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run_command(["run", "shared_buffer", "--quick", "--alphas", text]) == 2
    said = capsys.readouterr().err
    assert f"--alphas '{text}': " in said
    assert ("two of these are the same" in said) == ("," in text)


@pytest.mark.parametrize(("memory", "sizes"), [(24, [4]), (60, [4, 8]), (120, [4, 8, 12, 16, 20])])
def test_sizes_are_what_the_queues_hold(memory: int, sizes: list[int]) -> None:
    setting = shared_buffer.Setting(
        ["fifo"], [0.6], shared_buffer.FULL, Seeds.of(1, 2, 2), Duration.parse("30ms"), [memory]
    )
    own = [each for each in shared_buffer.candidates(setting) if each.group["sharing"] == shared_buffer.OWN]
    assert [each.parameters["size"] for each in own] == sizes


@pytest.mark.parametrize("text", ["", "0", "1.5", "a", "0.4,0.4"])
def test_wrong_loads_are_refused(text: str) -> None:
    for name in ("cheating", "ecn_and_admission", "reordering", "shared_buffer", "stale_lengths", "tenants"):
        assert main.run_command(["run", name, "--quick", "--loads", text]) == 2


def test_a_tenant_who_cheats_changes_its_own_flows_alone() -> None:
    flows = leaf_spine.listed(0.8, 20_000_000, 1)
    honest = tenants.traffic(flows, tenants.HONEST, 20_000_000)
    assert [flow.rank for flow in honest.flows] == flows["bytes"].tolist()
    cheats = [int(leaf_spine.host_numbers(flow["source"])) % tenants.TENANTS == 0 for flow in flows]
    assert 0.1 < sum(cheats) / len(cheats) < 0.4
    for behaviour in (tenants.URGENT, tenants.SCALED, tenants.SPLIT):
        sent = tenants.traffic(flows, behaviour, 20_000_000)
        by_origin: dict[int, list[simulate.Flow]] = {}
        for flow, origin in zip(sent.flows, sent.origin.tolist(), strict=True):
            by_origin.setdefault(origin, []).append(flow)
        for number, parts in by_origin.items():
            before = honest.flows[number]
            assert sum(part.bytes for part in parts) == before.bytes
            if not cheats[number]:
                assert parts == [before]
            elif behaviour == tenants.SPLIT:
                assert len(parts) == (4 if before.bytes > tenants.SPLIT_BYTES else 1)
                assert all(part.rank == part.bytes for part in parts)
            else:
                rank = 0 if behaviour == tenants.URGENT else before.bytes // 100
                assert [part.rank for part in parts] == [rank]


def test_several_tenants_cheat_in_the_same_way() -> None:
    flows = leaf_spine.listed(0.8, 20_000_000, 1)
    tenant = leaf_spine.host_numbers(flows["source"]) % tenants.TENANTS
    for cheaters in (1, 2, 3):
        sent = tenants.traffic(flows, tenants.URGENT, 20_000_000, cheaters=cheaters)
        liars = {int(tenant[place]) for place, flow in enumerate(sent.flows) if flow.rank == 0}
        assert liars == set(range(cheaters))
        small = tenants.traffic(flows, tenants.FILL, 20_000_000, cheaters=cheaters)
        # 4 hosts of each to 15 others
        assert (small.origin == tenants.NO_FLOW).sum() == 60 * cheaters


def test_normalised_ranks_do_not_change_with_the_scale_of_a_lie() -> None:
    flows = leaf_spine.listed(0.8, 20_000_000, 1)
    honest, scaled, urgent = (
        [flow.rank for flow in tenants.traffic(flows, behaviour, 20_000_000, Fraction(1, 2)).flows]
        for behaviour in (tenants.HONEST, tenants.SCALED, tenants.URGENT)
    )
    # sizes that become one when they are divided share a rank
    assert np.abs(np.array(honest) - np.array(scaled)).mean() < tenants.NORMAL_RANKS / 100
    own = leaf_spine.host_numbers(flows["source"]) % tenants.TENANTS == 0
    assert set(np.array(urgent)[own].tolist()) == {tenants.NORMAL_RANKS // 2}
    assert np.array_equal(np.array(urgent)[~own], np.array(honest)[~own])


def test_a_normalised_rank_is_the_share_of_more_urgent_flows_so_far() -> None:
    for equal, ranks in ((Fraction(1, 2), [5000, 2500, 8333, 2500]), (Fraction(1), [10_000, 5000, 10_000, 5000])):
        normaliser = tenants.Normaliser(equal)
        assert [normaliser.rank(told) for told in (50, 10, 90, 10)] == ranks


def test_small_packets_of_rank_0_come_from_the_hosts_of_the_cheater_alone() -> None:
    flows = leaf_spine.listed(0.8, 20_000_000, 1)
    honest = tenants.traffic(flows, tenants.HONEST, 20_000_000)
    sent = tenants.traffic(flows, tenants.FILL, 20_000_000)
    small = [flow for flow, origin in zip(sent.flows, sent.origin, strict=True) if origin == tenants.NO_FLOW]
    assert sent.flows[len(small) :] == honest.flows
    # 4 hosts to 15 others each
    assert len(small) == 60
    assert {flow.rank for flow in small} == {0}
    assert {int(flow.source) % tenants.TENANTS for flow in small} == {0}
    scenario = leaf_spine.scenario(simulate.Ports("fifo"), tenants.TRANSPORT, 0.8, 20_000_000, 1, ranks="flow")
    result = simulate.run(scenario.with_(flows=small, transports=tenants.transports(sent)))
    # 100 Mbit/s of frames of 64 bytes from each host, for 40 ms
    assert result.flows["sent_segments"].sum() == pytest.approx(4 * 1e8 * 0.04 / (64 * 8), rel=0.01)


@pytest.mark.parametrize("scheme", ["aifo", "rifo", "packs"])
def test_with_a_window_of_its_own_a_tenant_that_scales_its_ranks_changes_nothing(scheme: str) -> None:
    sent = tenants.traffic(leaf_spine.listed(0.8, 20_000_000, 1), tenants.HONEST, 20_000_000)
    # a hundred times the size: a hundredth would make one rank of several
    scaled = [replace(flow, rank=flow.bytes * (100 if flow.user == tenants.FIRST_LEAF else 1)) for flow in sent.flows]

    def slowdown(own: bool, flows: Sequence[simulate.Flow]) -> dict[str, float]:
        ports = cheating.ports(scheme, 12, 26, own)
        scenario = leaf_spine.scenario(ports, tenants.TRANSPORT, 0.8, 20_000_000, 1, ranks="flow")
        scenario = scenario.with_(flows=flows, charge_answers=tenants.charge_answers(ports))
        return tenants.measure(sent, simulate.run(scenario))

    assert slowdown(True, scaled) == slowdown(True, sent.flows)
    assert slowdown(False, scaled) != slowdown(False, sent.flows)


def test_an_adaptive_tenant_keeps_the_lie_with_the_highest_mean_rate() -> None:
    assert closed_loop.best({"honest": [2.0, 4.0], "split": [5.0, 0.0], "scaled": [3.5]}) == "scaled"


def test_a_flow_in_parts_takes_the_time_of_its_last_part() -> None:
    flows = leaf_spine.listed(0.8, 20_000_000, 1)
    sent = tenants.traffic(flows, tenants.SPLIT, 20_000_000)
    scenario = leaf_spine.scenario(simulate.Ports("fifo"), tenants.TRANSPORT, 0.8, 20_000_000, 1, ranks="flow")
    result = simulate.run(scenario.with_(flows=sent.flows))
    split = {origin for origin in sent.origin.tolist() if (sent.origin == origin).sum() > 1}
    assert split
    slowest = np.array([result.flows["restricted_s"][sent.origin == number].max() for number in range(len(flows))])
    source, destination = (leaf_spine.host_numbers(flows[end]) for end in ("source", "destination"))
    alone = leaf_spine.alone_s(flows["bytes"].astype(np.int64), source // 4 == destination // 4)
    cheats = source % tenants.TENANTS == 0
    figures = tenants.measure(sent, result)
    assert figures["cheater"] == pytest.approx((slowest / alone)[cheats].mean())
    assert figures["others"] == pytest.approx((slowest / alone)[~cheats].mean())


def test_the_tenants_tell_ranks_of_their_own_and_normalised_ones_are_comparable() -> None:
    told, normalised = (traffic.traffic(0.2, traffic.CALM, each, 20_000_000, 1) for each in (False, True))
    assert [flow.bytes for flow in told.flows] == [flow.bytes for flow in normalised.flows]
    for number, (flow, tenant) in enumerate(zip(told.flows, told.tenant.tolist(), strict=True)):
        start_us = flow.start_ns // 1000
        due_us = int(start_us + 1e6 * told.allowance_s[number])
        assert flow.rank == {traffic.SIZES: flow.bytes, traffic.DEADLINES: due_us, traffic.BULK: start_us}[tenant]
    for tenant in traffic.TENANTS:
        ranks = [flow.rank or 0 for flow, of in zip(normalised.flows, normalised.tenant, strict=True) if of == tenant]
        if tenant == traffic.BULK:
            assert set(ranks) == {traffic.RANKS // 2}
        else:
            assert min(ranks) == 0
            assert traffic.RANKS * 0.9 < max(ranks) < traffic.RANKS


def test_heavy_traffic_changes_the_load_of_one_tenant() -> None:
    calm, heavy = (traffic.traffic(0.1, kind, True, 50_000_000, 1) for kind in (traffic.CALM, traffic.HEAVY))
    for tenant in (traffic.SIZES, traffic.DEADLINES):
        assert (calm.tenant == tenant).sum() == (heavy.tenant == tenant).sum()
    few, many = ((each.tenant == traffic.BULK).sum() for each in (calm, heavy))
    # numbers of a Poisson process: within four standard deviations of the difference to four times as many
    assert abs(many - traffic.FACTOR * few) < 4 * (many + traffic.FACTOR**2 * few) ** 0.5
    alone = traffic.traffic(0.1, traffic.ALONE, True, 50_000_000, 1)
    assert set(alone.tenant.tolist()) == {traffic.BULK}


def test_a_round_of_an_incast_ends_with_its_last_block() -> None:
    ports = simulate.Ports("fifo", queues=1, queue_size=1000)
    scenario = retransmissions.scenario(ports, "incast of 16", "own", 10_000_000, 1)
    assert isinstance(scenario.flows, list)
    assert len(scenario.flows) == 2 * 16
    result = simulate.run(scenario)
    found = retransmissions.measure("incast of 16", result)
    # the link is busy from the first frame on, for the blocks start within 20 us
    assert found["slowdown"] == pytest.approx(1, abs=0.01)
    assert found["resent"] == found["timeouts"] == 0
    assert found["done"] == 1


def test_rounds_of_an_incast_beside_web_search_take_the_time_of_the_link_without_it() -> None:
    ports = simulate.Ports("fifo", queues=1, queue_size=1000)
    scenario = shared_traffic.scenario(ports, {"control": "new_reno"}, 0.5, 10_000_000, 1)
    rounds = [flow for flow in scenario.flows if flow.bytes == shared_traffic.BLOCK_BYTES]  # type: ignore[union-attr]
    # three rounds of the hosts behind three leaves
    assert len(rounds) == 3 * 12
    result = simulate.run(scenario.with_(flows=rounds))
    took = result.flows["restricted_s"].reshape(3, 12).max(axis=1) / shared_traffic.round_alone_s()
    # the blocks start within 20 us of 1.6 ms
    assert took == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("text", ["", "20", "1.5", "a", "60,60"])
def test_wrong_memories_are_refused(text: str) -> None:
    assert main.run_command(["run", "shared_buffer", "--quick", "--memories", text]) == 2


@pytest.mark.filterwarnings("ignore::p4sched.simulate.SimulationWarning")
@pytest.mark.parametrize("name", ["cheating", "ecn_and_admission"])
def test_a_run_with_too_few_flows_ends_with_a_sentence(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", name, "--quick", "--loads", "0.01", "--duration", "5ms", "--out", str(tmp_path)]
    assert main.run_command(words) == 1
    assert "a run has no flow of a kind that is measured" in " ".join(capsys.readouterr().err.split())


@pytest.mark.filterwarnings("ignore::p4sched.simulate.SimulationWarning")
def test_two_kinds_of_senders_have_a_slowdown_each(tmp_path: Path) -> None:
    words = ("--schemes", "fifo,dual_pi2", "--senders", "prague,cubic+prague", "--duration", "5ms", "--seeds", "2")
    assert main.run_command(["run", "ecn_and_admission", "--quick", *words, "--out", str(tmp_path)]) == 0
    schemes = json.loads((tmp_path / "summary.json").read_bytes())["schemes"]
    assert [each["mark_at_packets"] for each in schemes["dual_pi2"]["best"]] == [10, 10]
    for pair in schemes["dual_pi2"]["pairs"]:
        assert pair["alone"] is None
        assert pair["both"]["even_slowdown"] >= 1
        assert pair["both"]["odd_slowdown"] >= 1
    alike = [schemes[name]["best"][0]["odd_slowdown"] for name in ("fifo", "dual_pi2")]
    assert alike[0] != alike[1]


def test_honest_users_send_the_same_whatever_user_1_does() -> None:
    clock = users.Clock(60_000_000)

    def sent(behaviour: str) -> users.Traffic:
        return users.traffic(behaviour, users.PLAIN_BANDS, clock, 2_000_000_000, 1)

    def of(wanted: bool, found: users.Traffic) -> list[simulate.Flow]:
        return [flow for flow, user in zip(found.flows, found.users, strict=True) if (user == 1) == wanted]

    honest = sent(users.HONEST)
    assert len(of(True, honest)) == 1
    for behaviour in users.BEHAVIOURS:
        found = sent(behaviour)
        assert of(False, found) == of(False, honest)
        assert {flow.source for flow in of(True, found)} == {"u1"}
    assert len(of(True, sent("connections_50"))) == 50
    assert len({flow.user for flow in of(True, sent("addresses_4"))}) == 4
    # just below 1.5 fair shares of 25 Mbit/s of frames
    assert sent("cbr_2").transports["datagrams"]["control"]["udp"]["rate_bps"] == round(0.97 * 1.5 * 25e6)


def test_a_burst_fills_an_interval_and_the_pause_of_pulses_has_one_packet_in_each_interval() -> None:
    clock = users.Clock(60_000_000, held_intervals=4)
    traffic_ = users.traffic("pulses", users.PLAIN_BANDS, clock, 2_000_000_000, 1)
    own = [flow for flow in traffic_.flows if flow.source == "u1"]
    assert [flow.bytes == 100 for flow in own[:11]] == [False, *[True] * 4, False, *[True] * 4, False]
    assert all(late.start_ns - early.start_ns > 59_900_000 for early, late in pairwise(own))
    on_wire_s = own[0].bytes / users.MSS * users.FRAME * 8 / users.RATE_BPS
    assert 0.9 < on_wire_s / 0.06 < 1


def test_several_users_take_turns_with_their_pulses() -> None:
    clock = users.Clock(60_000_000)
    sent = users.traffic("pulses", users.PLAIN_BANDS, clock, 1_000_000_000, 1, cheaters=2)
    assert list(sent.cheaters) == [1, 7]
    bursts = [
        (flow.start_ns // 60_000_000, flow.user)
        for flow in sent.flows
        if flow.bytes > 10**6 and flow.transport == "datagrams"
    ]
    assert bursts == [(place, [1, 7][(place - 3) % 2]) for place in range(3, 3 + len(bursts))]
    # the honest ones send what they send beside one cheater
    one = users.traffic("pulses", users.PLAIN_BANDS, clock, 1_000_000_000, 1)
    honest = [[flow for flow in each.flows if flow.user not in (1, 7)] for each in (one, sent)]
    assert honest[0] == honest[1]


def test_the_controller_counts_the_addresses_of_a_cheater_as_users() -> None:
    bands = Bands.parse("1+4*0.5")
    one, four = (users.parameters(behaviour, bands, 60_000) for behaviour in (users.HONEST, "addresses_4"))
    assert one["edge_1"] == 500_000_000 // 8 // 20 * 60 // 1000
    assert four["edge_1"] == pytest.approx(one["edge_1"] * 20 / 23, abs=1)


def test_a_small_packet_in_every_other_interval_takes_several_shares_and_the_current_interval_stops_it() -> None:
    knobs = fdpa_schemes.Knobs("1+4*0.5", 6)
    end_ns = 2_000_000_000

    def share(scheme: str, behaviour: str) -> float:
        sent = users.traffic(behaviour, knobs.constant_bands(), knobs.clock(scheme), end_ns, 1)
        ports = fdpa_schemes.ports(scheme, knobs, behaviour)
        return users.measure(sent, simulate.run(users.scenario(ports, sent, end_ns, 1)))["cheater"]

    assert share("fdpa", "pulses") > 5
    assert share("fdpa_current", "pulses") < share("fdpa", "pulses") / 2
    assert share("fdpa", "on_off") < 2
    assert share("fdpa_tna", "on_off") > 5


SHORT = {
    "fdpa_cheating": ("--schemes", "fdpa,drr,afq", "--duration", "500ms"),
    "ecn_and_admission": ("--schemes", "fifo,aifo", "--duration", "5ms"),
    "cheating": ("--schemes", "pifo,tree", "--duration", "5ms"),
    "tenants": ("--schemes", "pifo,tree", "--duration", "5ms"),
    "stale_lengths": ("--schemes", "fifo,aifo", "--duration", "5ms"),
    "retransmissions": ("--schemes", "fifo,aifo", "--duration", "10ms"),
    "reordering": ("--schemes", "packs,packs_flow,packs_flowlet", "--duration", "5ms"),
    "shared_buffer": ("--schemes", "fifo,aifo", "--duration", "10ms"),
}


def test_each_k_and_window_of_the_map_chooses_among_all_buffers() -> None:
    grid = ranks_again.FULL
    setting = ranks_again.Setting(
        ["fifo", "aifo"], ["incast of 16"], grid, 0.8, Seeds.of(1, 2, 2), Duration.parse("10ms")
    )
    choices: dict[str, set[Any]] = {}
    for each in ranks_again.of_map(setting):
        choices.setdefault(json.dumps(each.group), set()).add(each.parameters["buffer_packets"])
    assert len(choices) == len(ranks_again.AGAIN) * len(grid.headrooms_256) * len(grid.windows)
    assert set(map(frozenset, choices.values())) == {frozenset(grid.buffers)}


@pytest.mark.parametrize("name", SHORT)
def test_a_short_run_has_a_result_for_each_group_and_continues(name: str, tmp_path: Path) -> None:
    words = ["run", name, "--quick", "--seeds", "2", *SHORT[name], "--out", str(tmp_path)]
    assert main.run_command(words) == 0
    content = (tmp_path / "summary.json").read_bytes()
    schemes = json.loads(content)["schemes"]
    assert all(part for scheme in schemes.values() for part in scheme.values())
    assert (tmp_path / "figure.png").stat().st_size > 0
    tables = {path.name for path in tmp_path.glob("*.csv")}
    assert all((tmp_path / name).stat().st_size > 0 for name in tables)
    assert ("map.csv" in tables) == (name == "retransmissions")
    points = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "points").iterdir()}
    assert main.run_command(words) == 0
    assert (tmp_path / "summary.json").read_bytes() == content
    assert {path.name: path.stat().st_mtime_ns for path in (tmp_path / "points").iterdir()} == points
