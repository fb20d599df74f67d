"""What programs written for BMv2 do to a switch: PTF's ports, the requests of the tutorials and of p4runtime-shell, and
the command lines that start a switch in p4-guide and p4-utils."""

import signal
import socket
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue

import grpc
import pytest
from finsy.proto import p4i, p4r, p4r_grpc
from google.protobuf import text_format
from lab import P4SCHED, PATIENCE_S, on_embedded

from mininet_topos.nodes import free_port
from p4sched.paths import ROOT

PORTS = 3
ROUTER_MAC, NEXT_MAC = "0a0000000001", "0a0000000002"
DUPLICATE = 6
"""ALREADY_EXISTS."""
ETH_P_ALL = 3


@contextmanager
def wires() -> Iterator[list[socket.socket]]:
    """Pairs of interfaces: the switch has one end, p4w0, p4w1, ..., and PTF has a raw socket on the other."""
    ends = []
    try:
        for number in range(PORTS):
            here, there = f"p4w{number}", f"p4x{number}"
            subprocess.run(["ip", "link", "add", here, "type", "veth", "peer", "name", there], check=True)
            for name in (here, there):
                # the kernel itself sends nothing
                Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1")
                subprocess.run(["ip", "link", "set", name, "up"], check=True)
            # protocol 0: until it is bound, a socket with a protocol receives the frames of every interface
            end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            end.bind((there, ETH_P_ALL))
            end.settimeout(PATIENCE_S)
            ends.append(end)
        yield ends
    finally:
        for end in ends:
            end.close()
        for number in range(PORTS):
            subprocess.run(["ip", "link", "delete", f"p4w{number}"], check=False, stderr=subprocess.DEVNULL)


@contextmanager
def started(line: str, folder: Path) -> Iterator[None]:
    """A switch that a shell starts, with BMv2's names on its path. It is killed, as those scripts do."""
    log = folder / "said.txt"
    with log.open("w") as file:
        command = [str(P4SCHED), "as-bmv2", "bash", "-c", f"exec {line}"]
        process = subprocess.Popen(command, stdout=file, stderr=file, cwd=folder)
    try:
        while "gRPC on" not in log.read_text():
            assert process.poll() is None, log.read_text()
        yield
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def compiled(folder: Path) -> None:
    """Compiles FIFO's program as the scripts do: FOLDER/fifo.json and FOLDER/fifo.p4info.txtpb."""
    line = ("p4c", "--target", "bmv2", "--arch", "v1model", "--p4runtime-files", "fifo.p4info.txtpb")
    subprocess.run(
        [str(P4SCHED), "as-bmv2", *line, str(ROOT / "p4" / "fifo.p4")], cwd=folder, check=True, timeout=PATIENCE_S
    )


def frame(destination: str, source: str, ttl: int, payload: bytes) -> bytes:
    """An IPv4 packet from 10.0.0.1 to 10.0.1.1."""
    addresses = bytes([10, 0, 0, 1, 10, 0, 1, 1])
    header = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 0, 0, ttl, 253, 0) + addresses
    total = sum(struct.unpack(">10H", header))
    checksum = 0xFFFF - (total % 0xFFFF or 0xFFFF)
    header = header[:10] + checksum.to_bytes(2, "big") + header[12:]
    return bytes.fromhex(destination + source + "0800") + header + payload


def silent(end: socket.socket) -> bool:
    """Whether nothing has come, other than what this side sent."""
    end.setblocking(False)
    with suppress(BlockingIOError):
        while end.recvfrom(2000)[1][2] == socket.PACKET_OUTGOING:
            pass
        return False
    return True


def received(end: socket.socket) -> bytes:
    """The next frame that the switch sent."""
    while True:
        content, (_, _, kind, _, _) = end.recvfrom(2000)
        if kind != socket.PACKET_OUTGOING:
            return content


class Controller:
    """Requests as utils/p4runtime_lib of the tutorials and p4runtime-shell make them: device 0, election id 1."""

    def __init__(self, address: str) -> None:
        self.channel = grpc.insecure_channel(address)
        self.stub = p4r_grpc.P4RuntimeStub(self.channel)
        self.requests: SimpleQueue[p4r.StreamMessageRequest | None] = SimpleQueue()
        self.stream = self.stub.StreamChannel(iter(self.requests.get, None))
        arbitration = p4r.MasterArbitrationUpdate(device_id=0, election_id=p4r.Uint128(low=1))
        self.requests.put(p4r.StreamMessageRequest(arbitration=arbitration))
        assert next(self.stream).arbitration.status.code == 0

    def close(self) -> None:
        """Ends the stream."""
        self.requests.put(None)
        self.channel.close()

    def load(self, p4info: p4i.P4Info, device_config: bytes) -> None:
        """Sets the program."""
        config = p4r.ForwardingPipelineConfig(p4info=p4info, p4_device_config=device_config)
        self.stub.SetForwardingPipelineConfig(
            p4r.SetForwardingPipelineConfigRequest(
                device_id=0,
                election_id=p4r.Uint128(low=1),
                action=p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT,
                config=config,
            )
        )

    def write(self, kind: p4r.Update.Type.ValueType, entry: p4r.TableEntry) -> None:
        """One update."""
        update = p4r.Update(type=kind, entity=p4r.Entity(table_entry=entry))
        self.stub.Write(p4r.WriteRequest(device_id=0, election_id=p4r.Uint128(low=1), updates=[update]))

    def entries(self, table: int) -> list[p4r.TableEntry]:
        """All of a table."""
        wanted = p4r.ReadRequest(device_id=0, entities=[p4r.Entity(table_entry=p4r.TableEntry(table_id=table))])
        return [entity.table_entry for reply in self.stub.Read(wanted) for entity in reply.entities]


def wrapped(json: bytes) -> bytes:
    """In the message p4.tmp.P4DeviceConfig: `reassign` is true, `device_data` is the program."""
    length, rest = b"", len(json)
    while rest > 127:
        length += bytes([rest & 127 | 128])
        rest >>= 7
    return b"\x08\x01\x1a" + length + bytes([rest]) + json


@on_embedded
@pytest.mark.parametrize("client", ["tutorials", "p4runtime-shell"])
def test_a_test_of_ptf_runs_as_on_bmv2(tmp_path: Path, client: str) -> None:
    """As runptf.sh of p4-guide and of the tutorials: no program at first, and a read after each write."""
    compiled(tmp_path)
    address = f"127.0.0.1:{free_port()}"
    ports = " ".join(f"-i {number}@p4w{number}" for number in range(PORTS))
    line = f"simple_switch_grpc --log-file ss-log --log-flush --dump-packet-data 10000 {ports} --no-p4"
    line += f" --thrift-port {free_port()} -- --grpc-server-addr {address}"
    with wires() as ends, started(line, tmp_path):
        controller = Controller(address)
        p4info = text_format.Parse((tmp_path / "fifo.p4info.txtpb").read_text(), p4i.P4Info())
        program = (tmp_path / "fifo.json").read_bytes()
        controller.load(p4info, wrapped(program) if client == "tutorials" else program)
        # before there is an entry
        ends[0].send(frame(ROUTER_MAC, "0a00000000aa", 64, b"lost"))

        table = next(each for each in p4info.tables if each.preamble.alias == "ipv4_routes").preamble.id
        action = next(each for each in p4info.actions if each.preamble.alias == "forward").preamble.id
        # the tutorials write all bytes of a value, p4runtime-shell as few as it can
        port = b"\x00\x02" if client == "tutorials" else b"\x02"
        arguments = [
            p4r.Action.Param(param_id=1, value=port),
            p4r.Action.Param(param_id=2, value=bytes.fromhex(NEXT_MAC)),
        ]
        match = p4r.FieldMatch(field_id=1, lpm=p4r.FieldMatch.LPM(value=bytes([10, 0, 1, 0]), prefix_len=24))
        does = p4r.TableAction(action=p4r.Action(action_id=action, params=arguments))
        entry = p4r.TableEntry(table_id=table, match=[match], action=does)
        controller.write(p4r.Update.INSERT, entry)
        [read] = controller.entries(table)
        canonical = p4r.TableEntry()
        canonical.CopyFrom(entry)
        canonical.action.action.params[0].value = b"\x02"
        assert read == canonical
        with pytest.raises(grpc.RpcError) as refused:
            controller.write(p4r.Update.INSERT, entry)
        assert refused.value.code() == grpc.StatusCode.UNKNOWN
        metadata = refused.value.trailing_metadata()
        [details] = [each.value for each in metadata if each.key == "grpc-status-details-bin"]
        assert isinstance(details, bytes)
        assert b"p4.v1.Error" in details
        assert bytes([0x08, DUPLICATE]) in details

        ends[0].send(frame(ROUTER_MAC, "0a00000000aa", 64, b"sent"))
        assert received(ends[2]) == frame(NEXT_MAC, ROUTER_MAC, 63, b"sent")
        assert all(silent(end) for end in ends)
        controller.write(p4r.Update.DELETE, entry)
        assert controller.entries(table) == []
        controller.close()
    # where p4-guide's READMEs look for it
    assert "'FifoIngress.forwarding.ipv4_routes': hit" in (tmp_path / "ss-log.txt").read_text()


@on_embedded
def test_a_switch_of_p4_utils_starts_and_takes_its_commands(tmp_path: Path) -> None:
    """The line of P4Switch, and commands from a file as P4Switch pipes them into simple_switch_CLI."""
    compiled(tmp_path)
    thrift = free_port()
    line = f"simple_switch -i 1@p4w1 -i 2@p4w2 --pcap={tmp_path} --thrift-port {thrift}"
    line += " --nanolog ipc:///tmp/bm-1-log.ipc --device-id 1 fifo.json --log-console -- --priority-queues 8"
    commands = "table_set_default ipv4_routes drop\ntable_add ipv4_routes forward 10.0.1.0/24 => 2 0a:00:00:00:00:02\n"
    with wires() as ends, started(line, tmp_path):
        cli = [str(P4SCHED), "as-bmv2", "simple_switch_CLI", "--thrift-port", str(thrift)]
        done = subprocess.run(cli, input=commands, capture_output=True, text=True, check=True, timeout=PATIENCE_S)
        assert "Entry has been added with handle 0" in done.stdout
        ends[1].send(frame(ROUTER_MAC, "0a00000000aa", 64, b"sent"))
        assert received(ends[2]) == frame(NEXT_MAC, ROUTER_MAC, 63, b"sent")
        counts = subprocess.run(
            cli, input="show_ports\n", capture_output=True, text=True, check=True, timeout=60
        ).stdout
        assert "p4w1" in counts
        assert (tmp_path / "p4w1_in.pcap").is_file()
