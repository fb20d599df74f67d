"""`p4sched trace`: a packet's way through a program, from a capture; and the log of packets of a switch."""

import json
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from lab import P4SCHED, PATIENCE_S, not_built, run_here
from switches import RunningSwitch

from mininet_topos.nodes import free_port
from p4sched.p4rt.compile import compile_program
from p4sched.paths import P4_DIR, TOFINO_DIR, rust_binary

UNBUILT = not_built("p4sched-packet-trace", "p4sched-p4c", "p4sched-switch")
pytestmark = pytest.mark.skipif(UNBUILT is not None, reason=str(UNBUILT))

MICROSECONDS, NANOSECONDS = 0xA1B2C3D4, 0xA1B23C4D
ETHERNET = 1


def pcap(frames: Sequence[bytes], order: str = "<", magic: int = MICROSECONDS) -> bytes:
    """A capture with a packet every 10 us (or ns)."""
    text = struct.pack(f"{order}IHHIIII", magic, 2, 4, 0, 0, 65535, ETHERNET)
    for number, frame in enumerate(frames):
        text += struct.pack(f"{order}IIII", 100, number * 10, len(frame), len(frame)) + frame
    return text


def udp(destination: str) -> bytes:
    """A UDP packet of 100 bytes from 10.0.0.1."""
    source, target = (bytes(map(int, address.split("."))) for address in ("10.0.0.1", destination))
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 86, 0, 0, 64, 17, 0, source, target)
    total = sum(struct.unpack("!10H", header))
    checksum = ~(total % 0xFFFF) & 0xFFFF
    header = header[:10] + struct.pack("!H", checksum) + header[12:]
    ethernet = bytes.fromhex("020000000002020000000001") + b"\x08\x00"
    return (ethernet + header + struct.pack("!HHHH", 1000, 2000, 66, 0)).ljust(100, b"\0")


FRAMES = (udp("10.0.1.1"), udp("10.0.9.9"))


@pytest.fixture
def entries(tmp_path: Path) -> Path:
    """A route to port 2."""
    path = tmp_path / "entries.txt"
    path.write_text("# to h2\ntable_add ipv4_routes forward 10.0.1.0/24 => 2 02:00:00:00:00:09\n")
    return path


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """A packet that has a route, and one that has none."""
    path = tmp_path / "capture.pcap"
    path.write_bytes(pcap(FRAMES))
    return path


def trace(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs `p4sched trace`."""
    return run_here("trace", *map(str, arguments))


def test_a_packets_way_is_told_from_its_port_to_where_it_comes_out(entries: Path, capture: Path) -> None:
    """Parser states, tables with keys and entries, changes of fields, queues."""
    done = trace(P4_DIR / "aifo.p4", capture, "--entries", entries)
    assert done.returncode == 0, done.stderr
    first, second, rest = done.stdout.split("\n\n")
    assert rest == ""
    lines = [line.strip() for line in first.splitlines()]
    assert lines[0] == "packet 1: 0.000000 s, 100 bytes"
    expected = (
        "Parser 'parser' entering state 'parse_ipv4'",
        "Applying table 'AifoIngress.forwarding.ipv4_routes'",
        "hdr.ipv4.dst_addr : 0x0a000101",
        "Table 'AifoIngress.forwarding.ipv4_routes': hit with handle 0",
        "Action entry is AifoIngress.forwarding.forward - port: 0x002, dst_mac: 0x020000000009",
        "Field 'ipv4.ttl': 0x40 -> 0x3f",
        "Egress port is 2: queue 0 holds 1 packet now",
        "Deparsing header 'ipv4'",
        "Transmitting packet of size 100 out of port 2",
    )
    places = [lines.index(line) for line in expected]
    assert places == sorted(places)
    assert lines[-1] == "=> port 2: 100 bytes"
    lines = [line.strip() for line in second.splitlines()]
    assert lines[0] == "packet 2: 0.000010 s, 100 bytes"
    assert lines[-2:] == ["Dropping packet at the end of ingress", "=> nothing"]


def test_json_has_an_object_for_each_event(entries: Path, capture: Path) -> None:
    """`--packet 1` leaves the others out; `--port` is where it arrives."""
    done = trace(P4_DIR / "aifo.p4", capture, "--entries", entries, "--json", "--packet", "1", "--port", "7")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert all((event["packet"], event["copy"]) == (1, 0) for event in events)
    by_kind = {event["event"]: event for event in events}
    assert (by_kind["received"]["port"], by_kind["received"]["data"]) == (7, FRAMES[0].hex())
    [routes] = [event for event in events if event.get("table", "").endswith("ipv4_routes")]
    assert routes["key"] == [{"name": "hdr.ipv4.dst_addr", "value": "0x0a000101"}]
    assert routes["entry"] == {"handle": 0, "key": ["0x0a000100/24"], "priority": 0}
    sent = by_kind["transmitted"]
    assert (sent["port"], sent["bytes"]) == (2, 100)
    # a hop less, so another checksum and other addresses
    assert bytes.fromhex(sent["data"])[34:] == FRAMES[0][34:]


def test_a_compiled_program_and_one_for_a_tofino_are_traced_too(entries: Path, capture: Path, tmp_path: Path) -> None:
    """BMv2 JSON with P4Info beside it; `--arch`."""
    compile_program(P4_DIR / "fifo.p4", tmp_path)
    done = trace(tmp_path / "fifo.json", capture, "--entries", entries, "--packet", "1")
    assert done.stdout.splitlines()[-2].strip() == "=> port 2: 100 bytes"
    done = trace(TOFINO_DIR / "fifo.p4", capture, "--entries", entries, "--packet", "1", "--arch", "tna")
    assert "Parser 'egress_parser': start" in done.stdout, done.stderr
    assert done.stdout.splitlines()[-2].strip() == "=> port 2: 100 bytes"


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("magic", [MICROSECONDS, NANOSECONDS])
def test_captures_of_both_byte_orders_and_units_of_time(order: str, magic: int, tmp_path: Path) -> None:
    """The second packet comes 10 us or 10 ns after the first."""
    capture = tmp_path / "capture.pcap"
    capture.write_bytes(pcap(FRAMES, order, magic))
    done = trace(P4_DIR / "fifo.p4", capture)
    heads = [line for line in done.stdout.splitlines() if line.startswith("packet")]
    after = "0.000010" if magic == MICROSECONDS else "0.000000"
    assert heads == ["packet 1: 0.000000 s, 100 bytes", f"packet 2: {after} s, 100 bytes"]


@pytest.mark.parametrize(
    ("text", "shown", "said"),
    [
        (b"", 0, "the file is empty"),
        (b"\x0a\x0d\x0d\x0a" + bytes(60), 0, "after packet 0: a section in no byte order: the file is damaged"),
        (b"hello, world", 0, "no capture: it does not begin as a pcap or pcapng file"),
        (pcap(FRAMES)[:-1], 1, "packet 2: the file ends after 99 of its 100 bytes"),
        (pcap(FRAMES)[: 24 + 116 + 5], 1, "packet 2: the file ends after 5 bytes of its header"),
    ],
    ids=["empty", "pcapng", "text", "half a packet", "half a header"],
)
def test_an_incomplete_capture_is_reported_behind_its_packets(
    text: bytes, shown: int, said: str, tmp_path: Path
) -> None:
    """One line that names the file."""
    capture = tmp_path / "capture.pcap"
    capture.write_bytes(text)
    done = trace(P4_DIR / "fifo.p4", capture)
    assert done.returncode == 1
    assert done.stdout.count("=> ") == shown
    assert done.stderr.startswith(f"p4sched: {capture}: {said}")
    assert len(done.stderr.splitlines()) == 1


def pcapng(frames: Sequence[bytes]) -> bytes:
    """As Wireshark saves it: a section, an interface in nanoseconds, a packet each 10 us."""

    def block(kind: int, content: bytes) -> bytes:
        content += bytes(-len(content) % 4)
        return struct.pack("<II", kind, len(content) + 12) + content + struct.pack("<I", len(content) + 12)

    section = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    interface = block(1, struct.pack("<HHIHHB3xHH", 1, 0, 262_144, 9, 1, 9, 0, 0))
    packets = [
        block(6, struct.pack("<5I", 0, 0, 10_000 * number, len(frame), len(frame)) + frame)
        for number, frame in enumerate(frames)
    ]
    return section + interface + b"".join(packets)


def test_a_capture_may_be_what_wireshark_saves(tmp_path: Path) -> None:
    """pcapng, too."""
    capture = tmp_path / "capture.pcapng"
    capture.write_bytes(pcapng(FRAMES))
    heads = [line for line in trace(P4_DIR / "fifo.p4", capture).stdout.splitlines() if line.startswith("packet")]
    assert heads == ["packet 1: 0.000000 s, 100 bytes", "packet 2: 0.000010 s, 100 bytes"]


def test_a_capture_may_come_through_a_pipe_and_may_be_empty(entries: Path, tmp_path: Path) -> None:
    """As `tcpdump -w -` writes it."""
    command = f"{P4SCHED} trace {P4_DIR / 'fifo.p4'} <(cat) --entries {entries}"
    for frames, said in ((FRAMES, "=> port 2: 100 bytes"), ((), "the capture holds no packets")):
        done = subprocess.run(
            ["bash", "-c", command],
            input=pcap(frames),
            capture_output=True,
            check=False,
            timeout=PATIENCE_S,
            cwd=tmp_path,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert said in done.stdout.decode()


def test_wrong_entries_and_missing_packets_are_reported(entries: Path, capture: Path) -> None:
    """With the line."""
    done = trace(P4_DIR / "fifo.p4", capture, "--packet", "3")
    assert (done.returncode, done.stderr) == (1, f"p4sched: {capture}: there is no packet 3; there are 2\n")
    for line, said in (
        ("table_add nosuch forward 1 => 2", "Invalid table name (nosuch)"),
        ("table_add ipv4_routes forward 10.0.1.0/99 => 2 02:00:00:00:00:09", "Invalid"),
        ("frobnicate", "no command 'frobnicate'"),
        ("! true", "'true' is a shell command, which is not supported here"),
        ("help", "'help' needs a terminal: use simple_switch_CLI"),
    ):
        entries.write_text(f"# a comment\n{line}\n")
        done = trace(P4_DIR / "fifo.p4", capture, "--entries", entries)
        assert done.returncode == 1
        assert done.stderr.startswith(f"p4sched: {entries}:2: {said}"), done.stderr
    done = trace(P4_DIR / "fifo.p4", capture, "--packet", "9" * 30)
    assert done.returncode == 2
    assert done.stderr == "p4sched: Invalid value for '--packet': Input should be less than or equal to 1000000000000\n"
    assert trace(P4_DIR / "fifo.p4", "/nosuch.pcap").stderr == "p4sched: no file '/nosuch.pcap'\n"
    assert trace(P4_DIR, capture).stderr == f"p4sched: '{P4_DIR}' is a folder, not a file\n"
    many = entries.with_suffix(".json")
    many.write_text('{"table_entries": ' + "9" * 5000 + "}")
    done = trace(P4_DIR / "fifo.p4", capture, "--entries", many)
    assert done.stderr == f"p4sched: {many}: a number has thousands of digits\n"


def test_entries_may_come_as_the_exercises_of_p4lang_write_them(capture: Path, tmp_path: Path) -> None:
    """`s1-runtime.json`: tables, defaults, groups, sessions; what is wrong is reported with its place."""
    entries = tmp_path / "s1-runtime.json"
    route = {
        "table": "FifoIngress.forwarding.ipv4_routes",
        "match": {"hdr.ipv4.dst_addr": ["10.0.1.1", 32]},
        "action_name": "FifoIngress.forwarding.forward",
        "action_params": {"dst_mac": "02:00:00:00:00:09", "port": 2},
    }
    replicas = [{"egress_port": port, "instance": 1} for port in (2, 3)]
    whole = {
        "target": "bmv2",
        "table_entries": [route],
        "multicast_group_entries": [{"multicast_group_id": 1, "replicas": replicas}],
        "clone_session_entries": [{"clone_session_id": 5, "replicas": replicas[:1]}],
    }
    entries.write_text(json.dumps(whole))
    done = trace(P4_DIR / "fifo.p4", capture, "--entries", entries, "--packet", "1")
    assert done.stdout.splitlines()[-2].strip() == "=> port 2: 100 bytes", done.stderr
    for change, said in (
        ({"match": {"hdr.ipv4.dst_addr": "10.0.1.1"}}, 'ipv4.dst_addr: "10.0.1.1" is not a value for kind lpm'),
        ({"match": {"nosuch": 1}}, "Table FifoIngress.forwarding.ipv4_routes has no key field nosuch"),
        ({"action_params": {"dst_mac": 9}}, "no 'port'"),
        ({"action_name": "nosuch"}, "Table FifoIngress.forwarding.ipv4_routes has no action nosuch"),
    ):
        entries.write_text(json.dumps({"table_entries": [route, {**route, **change}]}))
        done = trace(P4_DIR / "fifo.p4", capture, "--entries", entries)
        assert done.stderr == f"p4sched: {entries}: table_entries[1]: {said}\n"


def test_a_full_disk_under_the_log_is_reported_once_and_the_switch_goes_on(tmp_path: Path) -> None:
    """And a log that cannot be made is reported at the start."""
    port = free_port()
    command = [str(rust_binary("p4sched-switch")), "--grpc-server-addr", f"127.0.0.1:{port}", "--no-p4"]
    log = tmp_path / "log"
    running = RunningSwitch("embedded", [*command, "-L", "trace", "--log-file", "/dev/full"], port, 0, log)
    running.wait_until_it_answers()
    running.stop()
    lines = log.read_text().splitlines()
    assert [line for line in lines if "/dev/full" in line] == [
        "p4sched-switch: /dev/full: No space left on device (os error 28); the log ends here"
    ]
    assert lines[-1].startswith("p4sched-switch: stopped: 0 frames received")
    for option in ("--log-file", "--log-json"):
        wrong = [*command, option, "/nosuch/log"]
        ended = subprocess.run(wrong, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
        assert ended.returncode == 1
        assert ended.stderr == f"p4sched-switch: {option}: /nosuch/log: No such file or directory (os error 2)\n"
    both = tmp_path / "both.log"
    ended = subprocess.run(
        [*command, "--log-file", str(both), "--log-json", str(both)],
        capture_output=True, text=True, check=False, timeout=PATIENCE_S,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (1, f"p4sched-switch: --log-json: {both}: --log-file writes there\n")
