"""The registry of schemes agrees with the programs, and knows all that is said of a scheme elsewhere."""

from dataclasses import replace

import pytest

from p4sched.control.laws import afq, fdpa
from p4sched.control.parameters import Comparison, Parameters
from p4sched.errors import UsageError
from p4sched.p4rt.compile import compiled_program
from p4sched.p4rt.target import PROGRAMS, Target
from p4sched.p4rt.traffic_manager import BEYOND_BMV2, QUEUES
from p4sched.palette import PALETTE
from p4sched.proto.enums import Discipline
from p4sched.scheme import Scheme, Setup
from p4sched.schemes import SCHEMES

COMPARISON = Comparison(48, 20, 0.1, queues=6, capacity_bps=10**8, rtt_ns=10**7, bands=fdpa.DEFAULT_BANDS)


def written(scheme: Scheme) -> Parameters:
    """What a controller would write; for a scheme whose law alone writes, its first decision."""
    parameters = scheme.for_comparison(COMPARISON).parameters
    return parameters or fdpa.parameters_for(fdpa.Config(10**8, fdpa.DEFAULT_BANDS, 60_000, 10**7), 3)


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_the_program_has_just_the_parameters_that_the_scheme_writes(scheme: Scheme) -> None:
    schema = compiled_program(scheme.program).schema()
    table = schema.tables[scheme.parameters.table]
    assert [action.alias for action in table.actions] == [scheme.parameters.action]
    assert isinstance(written(scheme), scheme.parameters)
    data = written(scheme).action_data()
    wanted = {parameter.name: parameter.bitwidth for parameter in schema.actions[scheme.parameters.action].params}
    # in the order of the P4 action: the stepped runs take them by place
    assert list(data) == list(wanted)
    assert all(0 <= value < 2 ** wanted[name] for name, value in data.items())


@pytest.mark.parametrize("scheme", [each for each in SCHEMES.values() if each.program != "fifo"])
def test_parameters_are_read_as_they_were_written(scheme: Scheme) -> None:
    parameters = written(scheme)
    assert type(parameters).from_action_data(parameters.action_data()) == parameters


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_every_scheme_can_be_laid_out_at_a_port(scheme: Scheme) -> None:
    for setup in (scheme.default_setup(), scheme.for_comparison(COMPARISON), Setup(scheme, scheme.layout(), room=500)):
        assert setup.label
        assert all(setup.queue_sizes)
        many = len(setup.queue_sizes)
        assert 1 < many <= QUEUES if scheme.discipline is Discipline.STRICT else many == 1
    assert scheme.colour in PALETTE


@pytest.mark.parametrize("target", Target)
def test_the_programs_of_a_target_are_those_of_the_schemes_that_name_it(target: Target) -> None:
    own = [scheme for scheme in SCHEMES.values() if scheme.in_laboratory]
    named = {scheme.program for scheme in own if target in scheme.targets}
    assert {path.stem for path in PROGRAMS[target].folder.glob("*.p4")} == named


def test_a_scheme_without_a_program_for_a_target_says_which_targets_have_one() -> None:
    assert SCHEMES["packs"].not_on(Target.T2NA) is None
    assert SCHEMES["packs"].not_on(Target.TNA) == "there is no packs.p4 for tna, only for v1model and t2na"
    assert "which no Tofino has" in str(SCHEMES["pifo"].not_on(Target.TNA))


def test_a_window_is_no_larger_than_the_program_of_a_target_holds() -> None:
    for name in ("aifo", "packs"):
        wide = SCHEMES[name].for_comparison(replace(COMPARISON, window=32))
        assert wide.on(Target.V1MODEL).layout == wide.layout
        narrow = wide.on(Target.T2NA)
        assert narrow.target == Target.T2NA
        assert narrow.label.endswith("|W| = 16")


def test_where_departures_report_its_length_aifos_queue_has_room_for_twice_its_target() -> None:
    aifo = SCHEMES["aifo"].default_setup()
    assert aifo.queue_sizes == aifo.on(Target.T2NA).queue_sizes == (20,)
    assert aifo.on(Target.TNA).queue_sizes == (40,)


def test_on_a_tofino_fdpas_interval_is_the_nearest_power_of_two() -> None:
    config = fdpa.Config(10**8, fdpa.DEFAULT_BANDS, 60_000, 10**7)
    assert config.on(Target.V1MODEL) == config
    # 2^26 ns, and 2^16 ns at least
    assert config.on(Target.TNA).interval_us == 67_109
    assert replace(config, interval_us=1).on(Target.TNA).interval_us == 66
    with pytest.raises(UsageError, match="token buckets multiply, which a Tofino cannot do: there are none for tna"):
        replace(config, token_bucket=True).on(Target.TNA)


def test_bmv2_shows_no_discipline_that_it_does_not_have() -> None:
    for scheme in SCHEMES.values():
        assert scheme.discipline not in BEYOND_BMV2 or scheme.not_on_bmv2, scheme.name


def test_the_ideals_of_fairness_alone_ask_whose_a_packet_is() -> None:
    laboratory = [scheme for scheme in SCHEMES.values() if scheme.in_laboratory]
    asking = {scheme.discipline for scheme in laboratory if scheme.fair}
    assert asking == {Discipline.DRR, Discipline.AFQ, Discipline.STFQ}
    assert {scheme.discipline for scheme in laboratory if scheme.rank_field} == {Discipline.PIFO}
    assert afq.Parameters().calendar.queues == 32


def test_a_scheme_with_a_law_has_a_loop_and_options_and_no_other_has() -> None:
    for scheme in SCHEMES.values():
        assert (scheme.law is None) == (scheme.loop is None) == (not scheme.options)
        if scheme.law is not None:
            assert (scheme.law.name, scheme.law.parameters) == (scheme.name, scheme.parameters)
