"""Sessions with real switches over loopback gRPC."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest
from conftest import compiled_programs
from finsy.p4client import P4Client
from finsy.proto import p4r
from switches import RunningSwitch, found_parameters

from mininet_topos.nodes import free_port
from p4sched.control.bands import Bands
from p4sched.control.laws import fdpa as law
from p4sched.p4rt.program import Program
from p4sched.p4rt.reader import SessionError, SwitchGoneError, one_sentence
from p4sched.p4rt.routes import route
from p4sched.p4rt.session import connect, watch
from p4sched.p4rt.users import departures, prefix_user, user_counters
from p4sched.paths import P4_DIR

CONFIG = law.Config(500_000_000, Bands(1, 4, 0.5), 60_000, 10_000_000)


async def test_a_fresh_switch_gets_the_program(switch: RunningSwitch, fdpa: Program) -> None:
    async with connect(switch.address, fdpa) as session:
        assert session.loaded
        await session.insert([prefix_user(1, "10.0.0.1/32"), route("10.0.1.0/24", 2, "02:00:00:00:00:02")])
        assert set(await user_counters(session)) == {1}


async def test_a_restarted_controller_takes_over_without_a_reset(switch: RunningSwitch, fdpa: Program) -> None:
    wanted = law.parameters_for(CONFIG, 8)
    async with connect(switch.address, fdpa) as session:
        await session.insert([prefix_user(1, "10.0.0.1/32"), prefix_user(2, "10.0.0.2/32", weight=2)])
        await session.set_default_action(law.Parameters.table, law.Parameters.action, wanted.action_data())
    async with connect(switch.address, fdpa) as session:
        assert not session.loaded
        assert {user: counter.scale for user, counter in (await user_counters(session)).items()} == {1: 256, 2: 128}
        assert await found_parameters(session, law.Parameters) == wanted


async def test_the_same_program_compiled_elsewhere_is_taken_over_without_a_reset(
    switch: RunningSwitch, fdpa: Program, tmp_path: Path
) -> None:
    shutil.copytree(P4_DIR, tmp_path / "copy")
    elsewhere = compiled_programs(tmp_path / "out", "fdpa", sources=tmp_path / "copy")["fdpa"]
    assert elsewhere.json.read_bytes() != fdpa.json.read_bytes()
    async with connect(switch.address, fdpa) as session:
        await session.insert([prefix_user(1, "10.0.0.1/32")])
    async with connect(switch.address, elsewhere) as session:
        assert not session.loaded
        assert set(await user_counters(session)) == {1}


def test_a_program_is_the_same_wherever_its_source_was_and_another_when_it_does_something_else(
    fdpa: Program, tmp_path: Path
) -> None:
    def cookie(content: object) -> int:
        path = tmp_path / "fdpa.json"
        path.write_text(json.dumps(content))
        return Program(path, fdpa.p4info).pipeline().config.cookie.cookie

    program = json.loads(fdpa.json.read_bytes())
    table = program["pipelines"][0]["tables"][0]
    found = cookie(program)
    # as p4c writes it: the name as it was typed, and a piece of the source
    table["source_info"] = {"filename": "./p4/fdpa.p4", "line": 1, "column": 2, "source_fragment": "routes"}
    assert cookie(dict(reversed(program.items())) | {"program": "./p4/fdpa.p4"}) == found
    table["max_size"] += 1
    assert cookie(program) != found


async def test_another_program_replaces_the_one_that_runs(switch: RunningSwitch, programs: dict[str, Program]) -> None:
    async with connect(switch.address, programs["fdpa"]) as session:
        await session.insert([prefix_user(1, "10.0.0.1/32")])
    async with connect(switch.address, programs["fifo"]) as session:
        assert session.loaded
        assert await user_counters(session) == {}
        assert await session.default_action("fifo_params") is not None


async def test_the_same_program_is_loaded_again_when_forced(switch: RunningSwitch, fdpa: Program) -> None:
    async with connect(switch.address, fdpa) as session:
        await session.insert([prefix_user(1, "10.0.0.1/32")])
    async with connect(switch.address, fdpa, force=True) as session:
        assert session.loaded
        assert await user_counters(session) == {}


async def test_all_26_parameters_are_read_back_as_written(switch: RunningSwitch, fdpa: Program) -> None:
    parameters = law.Parameters(
        60_000, tuple(range(1, 8)), True, tuple(range(11, 18)), 65_000, 5_000, tuple(range(21, 29))
    )
    async with connect(switch.address, fdpa) as session:
        assert await found_parameters(session, law.Parameters) != parameters
        await session.set_default_action(law.Parameters.table, law.Parameters.action, parameters.action_data())
        assert await found_parameters(session, law.Parameters) == parameters


async def test_a_refused_entry_is_one_sentence_that_names_it(switch: RunningSwitch, fdpa: Program) -> None:
    async with connect(switch.address, fdpa) as session:
        await session.insert([prefix_user(1, "10.0.0.1/32")])
        with pytest.raises(SessionError, match=r"cannot insert table entries: update 2: \S+") as caught:
            await session.insert([prefix_user(2, "10.0.0.2/32"), prefix_user(3, "10.0.0.1/32")])
        assert "\n" not in str(caught.value)


async def test_a_wrong_name_is_one_sentence(switch: RunningSwitch, fdpa: Program) -> None:
    async with connect(switch.address, fdpa) as session:
        with pytest.raises(SessionError, match="fdpa_parms"):
            await session.set_default_action("fdpa_parms", law.Parameters.action, {})
        with pytest.raises(SessionError, match="interval"):
            await session.set_default_action(law.Parameters.table, law.Parameters.action, {"interval": 1})


async def test_a_value_that_the_program_cannot_work_with_is_one_sentence_and_changes_nothing(
    embedded_switch: RunningSwitch, fdpa: Program
) -> None:
    async with connect(embedded_switch.address, fdpa) as session:
        before = await found_parameters(session, law.Parameters)
        wrong = law.parameters_for(CONFIG, 3).action_data() | {"interval_us": 0}
        with pytest.raises(SessionError) as caught:
            await session.set_default_action(law.Parameters.table, law.Parameters.action, wrong)
        assert str(caught.value).endswith(
            "update 1: FdpaIngress.fdpa_params: action 'FdpaIngress.set_bands': "
            "interval_us = 0 breaks the restriction 'interval_us != 0'"
        )
        assert await found_parameters(session, law.Parameters) == before


async def test_a_second_controller_is_told_about_the_first(switch: RunningSwitch, fdpa: Program) -> None:
    async with connect(switch.address, fdpa):
        with pytest.raises(SessionError, match="another controller"):
            async with connect(switch.address, fdpa):
                pass


async def test_watching_works_beside_a_controller_and_does_not_disturb_it(switch: RunningSwitch, fdpa: Program) -> None:
    async with connect(switch.address, fdpa) as session, watch(switch.address) as reader:
        await session.insert([prefix_user(7, "10.0.0.7/32")])
        assert set(await user_counters(reader)) == {7}
        assert {user: (count.packets, count.bytes) for user, count in (await departures(reader, [7, 8])).items()} == {
            7: (0, 0),
            8: (0, 0),
        }
        await session.set_default_action(
            law.Parameters.table, law.Parameters.action, law.parameters_for(CONFIG, 3).action_data()
        )


async def test_watching_a_switch_without_a_program_says_so(switch: RunningSwitch) -> None:
    with pytest.raises(SessionError, match="runs no program yet"):
        async with watch(switch.address):
            pass


async def test_an_address_where_nothing_listens_is_one_sentence(fdpa: Program) -> None:
    with pytest.raises(SessionError, match="does not answer"):
        async with connect(f"127.0.0.1:{free_port()}", fdpa):
            pass


async def test_a_device_configuration_that_is_no_program_is_refused(
    embedded_switch: RunningSwitch, fdpa: Program, tmp_path: Path
) -> None:
    # BMv2 takes it for an empty program
    switch = embedded_switch
    wrong = Program(tmp_path / "wrong.json", fdpa.p4info)
    wrong.json.write_text(json.dumps({"parsers": 3}))
    with pytest.raises(SessionError, match="cannot load the program") as caught:
        async with connect(switch.address, wrong):
            pass
    assert "\n" not in str(caught.value)
    # and the switch is as usable as before
    async with connect(switch.address, fdpa) as session:
        assert session.loaded


@pytest.mark.parametrize(
    ("file", "content", "wrong"),
    [
        ("json", b"{", "not JSON"),
        ("json", b"\xff\xfe\x00", "not JSON"),
        ("p4info", b"tables {", "not a P4Info"),
        ("p4info", b"\xff\xfe", "not a P4Info"),
        ("p4info", b"", "not a P4Info in protobuf text: it is empty"),
    ],
)
def test_corrupt_files_are_named_before_any_switch_sees_them(
    fdpa: Program, tmp_path: Path, file: str, content: bytes, wrong: str
) -> None:
    bad = tmp_path / "bad"
    bad.write_bytes(content)
    program = Program(bad, fdpa.p4info) if file == "json" else Program(fdpa.json, bad)
    with pytest.raises(SessionError, match=rf"bad: {wrong}") as caught:
        program.schema()
    assert "\n" not in str(caught.value)


def test_a_missing_file_says_what_writes_it(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match=r"fdpa\.json is missing; 'p4sched compile"):
        Program.in_folder(tmp_path, "fdpa").schema()


async def test_a_request_that_ends_with_the_switch_fails_and_does_not_end_its_task_in_silence() -> None:
    with pytest.raises(SwitchGoneError, match="switch s1: does not answer \\(cannot write\\)"):
        async with one_sentence("s1", "write"):
            raise asyncio.CancelledError  # as gRPC does when the connection is closed


async def test_a_request_without_a_connection_says_so() -> None:
    with pytest.raises(SwitchGoneError, match=r"s1: does not answer \(cannot write\): the connection is closed"):
        async with one_sentence("s1", "write"):
            await P4Client("127.0.0.1:1").request(p4r.CapabilitiesRequest())
    with pytest.raises(AssertionError):
        async with one_sentence("s1", "write"):
            assert isinstance(1, str)


async def test_a_task_that_is_cancelled_during_a_request_is_cancelled() -> None:
    async def request() -> None:
        async with one_sentence("s1", "write"):
            await asyncio.Event().wait()

    task = asyncio.create_task(request())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
