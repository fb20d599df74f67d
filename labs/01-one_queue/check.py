"""Lab 01: the right answers, and the wrong ones that have a name."""

from p4sched.labs.answers import FILE, AnswersLab, Question, Slip
from p4sched.labs.lab import TcpRun

LAB = AnswersLab(
    title="One queue and TCP: how large should it be?",
    minutes=45,
    files=(FILE,),
    questions=(
        Question(
            "Task 1: the bandwidth-delay product",
            "bdp_packets",
            25,
            20e6 * 0.040 / 8 / 1500,
            "Rate times round-trip time, in packets of 1500 bytes. The link has 20 Mbit/s and the round trip is 40 ms.",
            (
                Slip("bits for bytes", 20e6 * 0.040 / 1500, "you forget that a byte has 8 bits."),
                Slip("one way", 20e6 * 0.020 / 8 / 1500, "20 ms is the way in one direction. There and back is 40 ms."),
                Slip("bytes", 20e6 * 0.040 / 8, "this is in bytes. Divide by the size of a packet."),
                Slip("bits", 20e6 * 0.040, "this is in bits. Divide by 8, and by the size of a packet."),
                Slip("ms for s", 20e6 * 40 / 8 / 1500, "40 ms are 0.040 s."),
            ),
            # 66 and 67: rounded down and up
            tolerance=0.0101,
        ),
        Question(
            "Task 2: what a full queue costs",
            "full_queue_ms",
            25,
            400 * 1514 * 8 / 20e6 * 1000,
            "The time in ms that the link takes for 400 packets of 1514 bytes.",
            (
                Slip(
                    "bytes for bits",
                    400 * 1514 / 20e6 * 1000,
                    "you forget that a byte has 8 bits.",
                ),
                Slip("seconds", 400 * 1514 * 8 / 20e6, "this is in seconds. The answer is in ms."),
                Slip(
                    "with the round trip",
                    282,
                    "you added the round-trip time. The task asks for the wait in the queue alone.",
                ),
                Slip("one packet", 1514 * 8 / 20e6 * 1000, "this is the time of one packet. 400 packets wait."),
                Slip("without headers", 400 * 1500 * 8 / 20e6 * 1000, "packets have 1514 bytes on the link, not 1500."),
            ),
            # 242 and 243, and 399 packets before the last one
            tolerance=0.004,
        ),
        Question(
            "Task 3: the smallest queue that keeps the link busy",
            "smallest_size",
            25,
            20,
            "Run one_queue.py with all sizes, and take the smallest one with at least 95 % in the column 'link used'.",
            (
                Slip("almost", 15, "with 15 packets the link is used a little less than 95 %."),
                Slip(
                    "the product",
                    67,
                    "this is the bandwidth-delay product. The rule of thumb is not what you measured.",
                ),
                Slip(
                    "all of the link",
                    40,
                    "from 40 packets on, the link is as busy as it can be. The task asks for 95 %.",
                ),
                Slip("the largest", 400, "this is the largest size. The task asks for the smallest one."),
            ),
        ),
        Question(
            "Task 4: bufferbloat",
            "times_longer",
            25,
            703.8 / 214.5,
            "The time of a short flow with 400 packets over that with 40 packets: column 'a short flow takes'.",
            (
                Slip("upside down", 214.5 / 703.8, "you divided the other way around."),
                Slip(
                    "the wait",
                    242.2 / 24.2,
                    "this compares the sizes, or the longest waits. The task asks for the time of a short flow.",
                ),
                Slip(
                    "difference",
                    703.8 - 214.5,
                    "this is the difference in ms. The task asks for the ratio.",
                ),
            ),
            tolerance=0.03,
        ),
    ),
    tcp=TcpRun(
        "fdpa_fairness",
        ("--schemes", "fifo"),
        "20 users share one queue. A user with ten connections gets ten times as much as the others: the next labs "
        "solve this.",
    ),
)
