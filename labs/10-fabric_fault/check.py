"""Lab 10: the right answers, and the wrong ones that have a name. fabric.py makes the tables that they come from."""

from p4sched.labs.answers import FILE, AnswersLab, Question, Slip
from p4sched.labs.lab import TcpRun

LAB = AnswersLab(
    title="A fabric that you did not build: find the fault",
    minutes=60,
    files=(FILE,),
    questions=(
        Question(
            "Task 1: where is the fault?",
            "link",
            40,
            "leaf3-spine1",
            "The two switches of the faulty link, for example leaf1-spine2; "
            "first the one at which packets wait longest.",
            (
                Slip("a busy server", "leaf2-h6", "many send to h6 at once, so packets wait there. That is no fault."),
                Slip(
                    "the most drops between others",
                    "leaf2-spine2",
                    "it sent many times the bytes of the faulty link; bursts fill its queue for a moment.",
                ),
                Slip("the other direction", "spine1-leaf3", "packets wait there too, but where do they wait longest?"),
                Slip(
                    "the most bytes", "spine2-leaf1", "this link carries the most, and no packet waits. It is healthy."
                ),
            ),
        ),
        Question(
            "Task 2: how fast is the faulty link?",
            "rate_mbit",
            20,
            94,
            "Its rate in Mbit/s. It is nearly always busy: what did it send in 0.2 s?",
            (
                Slip("bytes for bits", 2195657 / 0.2 / 1e6, "this is in megabytes a second. A byte has 8 bits."),
                Slip(
                    "another link",
                    16529661 * 8 / 0.2 / 1e6,
                    "this is what leaf2-spine2 sent. It is not the link of task 1.",
                ),
                Slip("the rate of the others", 2000, "this is the rate of the healthy links."),
                Slip(
                    "not each second",
                    2195657 * 8 / 1e6,
                    "these are the bits of 0.2 s. The task asks for those of a second.",
                ),
            ),
            # 87 to 101: what it sent, and a little more
            tolerance=0.075,
            slip_tolerance=0.03,
        ),
        Question(
            "Task 3: what was lost inside the fabric?",
            "lost_in_fabric",
            20,
            184,
            "Packets that were dropped at ports between two switches; the sum over all of them.",
            (
                Slip("the faulty link alone", 142, "there is another port between two switches that dropped packets."),
                Slip(
                    "servers too",
                    284,
                    "this counts ports to servers, too. The task asks for ports between two switches.",
                ),
                Slip("without the faulty link", 42, "this leaves the faulty link out."),
            ),
        ),
        Question(
            "Task 4: who suffered most?",
            "slowest_flow",
            20,
            7,
            "The number of the completed flow with the lowest rate: bytes over completion time.",
            (
                Slip("the longest", 18, "this one took longest, but it is large: look at bytes over time."),
                Slip("the most retransmissions", 47, "this one did not end before the measurement did."),
                Slip("the smallest", 23, "this one is the smallest. It was fast."),
            ),
        ),
    ),
    tcp=TcpRun(
        "leaf_spine",
        ("--schemes", "fifo,packs"),
        "A healthy fabric: each leaf sends half of its bytes over each spine. With PACKS, the urgent connections get "
        "nearly everything, at every port of every switch.",
    ),
)
