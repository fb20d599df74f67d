"""`simple_switch_CLI` over Thrift: the commands that scripts of p4-utils pipe in, and what they read."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab import PATIENCE_S, not_built
from switches import RunningSwitch

from mininet_topos.nodes import free_port
from p4sched.bmv2.multicast import number_map
from p4sched.bmv2.program import InputError, KeyField, Program
from p4sched.bmv2.values import match_key, param_text, value_bytes
from p4sched.paths import BMV2_NAMES_DIR, ROOT, rust_binary

EVERYTHING = ROOT / "switch" / "device" / "tests" / "programs" / "everything.json"


def started(log: Path) -> RunningSwitch:
    """A switch without ports, with a program, as p4-utils starts one."""
    unbuilt = not_built("p4sched-switch")
    if unbuilt is not None:
        pytest.skip(unbuilt)
    grpc_port, thrift_port = free_port(), free_port()
    command = [str(rust_binary("p4sched-switch")), "--thrift-port", str(thrift_port)]
    command += ["--grpc-server-addr", f"127.0.0.1:{grpc_port}", str(EVERYTHING)]
    running = RunningSwitch("embedded", command, grpc_port, thrift_port, log)
    running.wait_until_it_answers()
    return running


@pytest.fixture(scope="module")
def switch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSwitch]:
    """One for all tests."""
    running = started(tmp_path_factory.mktemp("switch") / "log")
    yield running
    running.stop()


def cli(switch: RunningSwitch, *commands: str) -> list[str]:
    """What the command line prints for these lines, without the prompts."""
    command = [str(BMV2_NAMES_DIR / "simple_switch_CLI"), "--thrift-port", str(switch.thrift_port)]
    text = "\n".join([*commands, ""])
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.replace("RuntimeCmd: ", "").splitlines()
    assert lines[:3] == [
        "Obtaining JSON from switch...",
        "Done",
        "Control utility for runtime P4 table manipulation",
    ]
    return lines[3:-1]


def test_entries_are_added_shown_and_removed(switch: RunningSwitch) -> None:
    """With short names of tables and actions; the lines are those of BMv2's command line."""
    shown_lines = cli(
        switch,
        "reset_state",
        "table_add routes forward 10.0.1.0/24 => 2",
        "table_add routes forward 10.0.1.0/24 => 2",
        "table_dump EverythingIngress.routes",
        "table_delete routes 0",
        "table_num_entries routes",
    )
    assert shown_lines == [
        "Adding entry to lpm match table routes",
        "match key:           LPM-0a:00:01:00/24",
        "action:              forward",
        "runtime data:        00:02",
        "Entry has been added with handle 0",
        "Adding entry to lpm match table routes",
        "match key:           LPM-0a:00:01:00/24",
        "action:              forward",
        "runtime data:        00:02",
        "Invalid table operation (DUPLICATE_ENTRY)",
        "==========",
        "TABLE ENTRIES",
        "**********",
        "Dumping entry 0x0",
        "Match key:",
        "* ipv4.dst_addr       : LPM       0a000100/24",
        "Action entry: EverythingIngress.forward - 02",
        "==========",
        "Dumping default entry",
        "Action entry: NoAction - ",
        "==========",
        "Deleting entry 0 from routes",
        "0",
    ]


def test_wrong_lines_are_reported_and_the_next_ones_run(switch: RunningSwitch) -> None:
    """As on BMv2, where scripts look for these words; the exit code is 0."""
    assert cli(
        switch,
        "table_add nosuch forward 1 => 2",
        "table_add routes nosuch 10.0.0.0/8 => 2",
        "table_add routes forward 10.0.0.0 => 2",
        "table_add routes forward 10.0.0.300/8 => 2",
        "table_add routes forward 10.0.0.0/8 => 70000",
        "table_add routes forward 10.0.0.0/8 =>",
        "table_add routes",
        "table_delete routes 99",
        "table_delete routes 99999999999999999999",
        "register_read nosuch",
        "table_num_entries routes extra",
        "nosuch",
        "table_num_entries routes",
    ) == [
        "Error: Invalid table name (nosuch)",
        "Error: Table routes has no action nosuch",
        "Invalid match key: Invalid LPM value 10.0.0.0, use '/' to separate prefix and length",
        "Invalid match key: Error while parsing 10.0.0.300 - Invalid IPv4 address",
        "Invalid runtime data: Error while parsing 70000 - Parameter is too large",
        "Error: Action EverythingIngress.forward needs 1 parameters",
        "Error: Insufficient number of args",
        "Deleting entry 99 from routes",
        "Invalid table operation (INVALID_HANDLE)",
        "Deleting entry 99999999999999999999 from routes",
        "Error: number out of range: 99999999999999999999",
        "Error: Invalid register name (nosuch)",
        "Error: Wrong number of args, expected 1 but got 2",
        "*** Unknown syntax: nosuch",
        "0",
    ]


def test_groups_nodes_sessions_and_queues(switch: RunningSwitch) -> None:
    """What load_balance, multicast and mirroring exercises write."""
    lines = cli(
        switch,
        "reset_state",
        "act_prof_create_member paths_selector forward 1",
        "act_prof_create_group paths_selector",
        "act_prof_add_member_to_group paths_selector 0 0",
        "table_indirect_add_with_group paths 5 => 0",
        "mc_mgrp_create 1",
        "mc_node_create 0 1 2 3",
        "mc_node_associate 1 0",
        "mc_dump",
        "mirroring_add 100 2",
        "mirroring_get 100",
        "set_queue_rate 100",
        "set_queue_depth 10 1",
        "set_queue_rate 100 1 7",
    )
    assert "Group has been created with handle 0" in lines
    assert "Entry has been added with handle 0" in lines
    assert "node was created with handle 0" in lines
    assert "  -> (L1h=0, rid=0) -> (ports=[1, 2, 3], lags=[])" in lines
    assert lines[-1] == "MirroringSessionConfig(port=2, mgid=None)"


def test_unknown_queues_are_reported(switch: RunningSwitch) -> None:
    """BMv2 sets nothing and says nothing."""
    lines = cli(
        switch,
        "set_queue_depth 5 2 99",
        "set_queue_rate 5 511",
        "set_queue_depth 5 2 7 1",
        "set_queue_depth 5 2 7",
        "set_queue_rate five",
    )
    assert lines == [
        "Error: Bad priority 99, it is 0 to 7",
        "Error: Bad egress_port 511, it is 0 to 510",
        "Error: Wrong number of args, expected at most 3 but got 4",
        "Error: Bad format for rate_pps, egress_port or priority, expected integer",
    ]


def test_arrays_are_read_as_they_were_written(switch: RunningSwitch) -> None:
    """Counters, also direct ones; registers, whole and by cell."""
    lines = cli(
        switch,
        "counter_write arrivals 1 7 700",
        "counter_read arrivals 1",
        "counter_reset arrivals",
        "counter_read arrivals 1",
    )
    assert lines[1:] == ["arrivals[1]= (700 bytes, 7 packets)", "arrivals[1]= (0 bytes, 0 packets)"]


def test_a_program_is_swapped(switch: RunningSwitch, tmp_path: Path) -> None:
    """And the one at work written to a file."""
    saved = tmp_path / "saved.json"
    lines = cli(
        switch,
        "table_add routes forward 10.0.1.0/24 => 2",
        "swap_configs",
        f"load_new_config_file {EVERYTHING}",
        "swap_configs",
        "table_num_entries routes",
        f"write_config_to_file {saved}",
        "load_new_config_file nosuch.json",
    )
    assert lines[5:] == [
        "Swapping configs",
        "Invalid swap operation (NO_ONGOING_SWAP)",
        "Loading new Json config",
        "Swapping configs",
        "0",
        "Error: Not a valid filename",
    ]
    assert saved.read_bytes() == EVERYTHING.read_bytes()


def test_without_a_switch_there_is_a_reason_and_exit_code_1() -> None:
    """In the words that scripts know."""
    port = str(free_port())
    command = [str(BMV2_NAMES_DIR / "simple_switch_CLI"), "--thrift-port", port]
    done = subprocess.run(command, input="", capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == 1
    assert re.match(rf"Could not connect to thrift client on port {port}\n", done.stdout)
    command[-1] = "99999"
    done = subprocess.run(command, input="", capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == 2
    assert done.stderr.endswith("argument --thrift-port: 99999 is not a port: 1 to 65535\n")


def test_the_switch_goes_and_the_command_line_ends(tmp_path: Path) -> None:
    """With one line, not with a trace of calls."""
    running = started(tmp_path / "log")
    command = [str(BMV2_NAMES_DIR / "simple_switch_CLI"), "--thrift-port", str(running.thrift_port)]
    talking = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    )
    assert talking.stdin is not None
    assert talking.stdout is not None
    for _ in range(3):
        talking.stdout.readline()
    running.stop()
    talking.stdin.write("table_num_entries routes\n")
    talking.stdin.close()
    assert "The switch has gone: " in talking.stdout.read()
    assert talking.wait(timeout=PATIENCE_S) == 1


@pytest.mark.parametrize(
    ("word", "width", "expected"),
    [
        ("10.0.0.1", 32, "0a000001"),
        ("0x1f", 9, "001f"),
        ("00:00:00:00:01:02", 48, "000000000102"),
        ("::1", 128, "00" * 15 + "01"),
        ("255", 8, "ff"),
    ],
)
def test_values_are_numbers_or_addresses(word: str, width: int, expected: str) -> None:
    """At the full width of their field."""
    assert value_bytes(word, width).hex() == expected


@pytest.mark.parametrize("word", ["256", "-1", "x", "1.2.3"])
def test_values_that_do_not_fit_are_refused(word: str) -> None:
    """In eight bits."""
    with pytest.raises(InputError):
        value_bytes(word, 8)


def test_a_key_has_the_form_of_its_match() -> None:
    """Exact, lpm, ternary and range."""
    fields = [KeyField("a", kind, 16) for kind in ("exact", "lpm", "ternary", "range")]
    key = match_key(fields, ["1", "0x100/8", "5&&&0xff", "1->2"])
    assert [param_text(param, colons=True) for param in key] == [
        "00:01",
        "01:00/8",
        "00:05 &&& 00:ff",
        "00:01 -> 00:02",
    ]
    with pytest.raises(InputError, match="start is less than end"):
        match_key(fields[3:], ["2->1"])


def test_a_map_of_ports_ends_with_port_0() -> None:
    """As the interface has it."""
    assert (number_map(["1", "3"]), number_map([])) == ("1010", "")
    for wrong in (["1", "1"], ["-1"], ["x"], ["99999999"]):
        with pytest.raises(InputError):
            number_map(wrong)


def test_an_end_of_a_name_is_enough_if_no_other_has_it() -> None:
    """Names end at dots."""
    program = Program(EVERYTHING.read_text())
    assert program.tables.get("routes") is program.tables.get("EverythingIngress.routes")
    assert "EverythingIngress.routes" in program.tables.completions("Everything")
    for wrong in ("outes", "nosuch"):
        with pytest.raises(InputError):
            program.tables.get(wrong)
