"""Lab 06: which packets give which marks, and which mistakes have a name."""

from collections.abc import Sequence

from p4sched.labs.decisions import Trial
from p4sched.labs.explanations import Arrival, Line, packs
from p4sched.labs.explanations.ports import EMPTY, by_rank_and_port
from p4sched.labs.lab import TcpRun
from p4sched.labs.stepped_lab import SteppedLab, Task
from p4sched.labs.trace import Packet, at_once, bursts, by_hand

FILE = "packs_mapping.p4"
# Sizes of queues 1 to 8, K, |W|, S. Long queues at first, which are never full.
WIDE = [
    Trial((40, 40, 40, 40, 0, 0, 0, 0, 0, 16, 1), bursts(500, 1, range(40), (400, 900, 1500))),
    Trial((50, 30, 60, 0, 0, 0, 0, 0, 0, 8, 2), bursts(500, 2, range(9), (400, 900, 1500))),
    # both ends of each range: a sum of 19 bits, products of up to 32
    Trial((65535,) * 8 + (0, 8, 2), bursts(200, 7, range(8), (3000,))),
    Trial((65535, 1000, 40000, 256, 65535, 512, 30000, 20000, 0, 32, 2), bursts(200, 8, range(40))),
    Trial((32768, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1), bursts(60, 9, range(9))),
]
# lengths of 16 bits, in the tail drop and in the room: the last packet enters only if the long queue counts as empty
LONG = Trial((32_780, 50, 0, 0, 0, 0, 0, 0, 0, 8, 1), [*at_once(32_790, 16, [7]), Packet(0, 3), Packet(0, 7)])
READERS = 224
"""User READERS + n reads three bits of total_length, from bit n on: they choose its queue."""
READER_SCALES = (256,) * (READERS - 1) + (1,) * 32
PORTS = (1, 16, 128, 200)
"""Users below READERS, as `ports` counts: ports 3, 33, 257, 401. Some differ from port 1 in high bits only."""
ALONE = 400
"""Packets for port 1, before those of other ports make its queues longer than their sizes."""
OWN_PORT = "mapping.apply(standard_metadata.egress_spec,"
PORT_OF_USER = """mapping.apply(meta.scale == 1 ? standard_metadata.egress_spec :
                          standard_metadata.egress_spec ^ ((bit<9>) meta.user << 1),"""
CALL = "length, standard_metadata.priority, verdict);"
READ = f"""{CALL}
            if (meta.scale == 1) {{
                standard_metadata.priority = (bit<3>) (length >> ((bit<8>) meta.user & 31));
                verdict = ADMITTED;
            }}"""


def with_readers(packets: Sequence[Packet], every: int) -> list[Packet]:
    """Packets, and after every `every` of them some that read the low bits of total_length."""
    made = []
    for number, packet in enumerate(packets, 1):
        made.append(packet)
        if number % every == 0:
            made += [Packet(packet.at_ns, packet.rank, READERS + bit) for bit in range(0, 12, 3)]
    return made


def of_ports(packets: Sequence[Packet]) -> list[Packet]:
    """Packets for several ports, of which only the first one has queues."""
    others = (packet._replace(user=PORTS[number % len(PORTS)]) for number, packet in enumerate(packets[ALONE:]))
    return [*packets[:ALONE], *others]


def who(packet: Packet) -> str:
    return by_rank_and_port(packet if packet.user < READERS else packet._replace(user=0))


def explain(arrival: Arrival) -> list[Line]:
    if arrival.packet.user < READERS:
        lengths = [*arrival.lengths[:-1], EMPTY] if arrival.packet.user else arrival.lengths
        return packs.explain(Arrival(arrival.trial, arrival.packets, lengths))
    lengths, bit = arrival.length[::-1], arrival.packet.user - READERS
    numbers = " + ".join(map(str, lengths))
    return [
        ("length", f"total_length is the sum of all b_i: {numbers} = {sum(lengths)}"),
        ("test", f"the check lets bits {bit} to {bit + 2} of your total_length choose the priority of this packet"),
    ]


NARROW = [
    Trial((3, 3, 3, 3, 3, 3, 3, 3, 0, 16, 1), bursts(800, 3, range(40))),
    Trial((2, 5, 1, 8, 0, 0, 0, 0, 0, 20, 3), bursts(600, 4, range(12))),
    Trial((1, 2, 3, 4, 5, 6, 7, 8, 0, 32, 1), bursts(300, 10, range(40))),
    Trial((1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1), bursts(60, 11, range(3))),
    Trial((300, 280, 0, 0, 0, 0, 0, 0, 0, 4, 4), at_once(650, 12, range(3))),
]
TOTALS = Trial(
    (4000, 3000, 2000, 4000, 3000, 2000, 4000, 3000, 0, 16, 1),
    with_readers([*at_once(1100, 17, [7]), *at_once(300, 18, range(40))], 50),
    READER_SCALES,
    has_model=False,
)
OF_PORTS = Trial(
    (60, 50, 40, 30, 25, 20, 15, 90, 0, 4, 1),
    of_ports(at_once(900, 19, range(40))),
    READER_SCALES,
    has_model=False,
)
HEADROOM = [
    Trial((4, 4, 4, 4, 4, 4, 0, 0, 50, 16, 1), bursts(800, 5, range(40))),
    Trial((3, 9, 6, 0, 0, 0, 0, 0, 200, 20, 1), bursts(600, 6, range(100))),
    Trial((65535,) * 8 + (1, 32, 2), bursts(200, 13, range(40), (3000,))),
    Trial((9, 8, 7, 6, 5, 4, 3, 2, 255, 32, 1), bursts(300, 14, range(40))),
    Trial((60000, 300, 100, 7, 65535, 0, 0, 0, 128, 31, 2), bursts(200, 15, range(3))),
    # one side is larger by 1
    Trial((1, 256, 0, 0, 0, 0, 0, 0, 255, 1, 2), by_hand(*[(10_000, rank) for rank in (3, 7, 3, 7, 3, 3, 7, 7, 3, 7)])),
]


LAB = SteppedLab(
    title="PACKS: write the choice of the queue",
    minutes=75,
    files=(FILE,),
    places={FILE: f"include/{FILE}"},
    program="packs",
    scheme="packs",
    explain=explain,
    who=who,
    edits=((CALL, READ), (OWN_PORT, PORT_OF_USER)),
    tasks=(
        Task("Task 1: the condition of each queue", 40, (*WIDE, TOTALS), "Task 1"),
        Task("Task 2: full queues", 30, (*NARROW, LONG, OF_PORTS), "Task 2"),
        Task("Task 3: headroom", 30, tuple(HEADROOM), "Task 3"),
    ),
    tcp=TcpRun(
        "three_flows",
        ("--schemes", "fifo,packs"),
        "The small flow is the most urgent one. "
        "With PACKS it ends in less than half the time that it takes with FIFO. "
        "Some segments overtake others: a flow changes its queue.",
    ),
)
