"""Lab 13: the right answers, and the wrong ones that have a name. runs.py makes the table that they come from."""

from p4sched.labs.answers import FILE, AnswersLab, Question, Slip
from p4sched.labs.lab import TcpRun

LAB = AnswersLab(
    title="Marks and admission: which of them acts",
    minutes=45,
    files=(FILE,),
    questions=(
        Question(
            "Task 1: marks alone",
            "threshold",
            20,
            5,
            "The threshold with the smallest mean of `all` over the four seeds, with FIFO.",
            (
                Slip("small flows alone", 2, "this is the best for small flows. Large ones pay. Look at `all`."),
                Slip("large flows alone", 20, "this is the best for large flows. Small ones pay. Look at `all`."),
            ),
        ),
        Question(
            "Task 2: where admission begins",
            "free_packets",
            20,
            40,
            "The largest queue, in packets, with which AIFO refuses nothing in setting O.",
            (
                Slip("the target", 80, "this is C. A packet is admitted whatever its rank only while c <= k C."),
                Slip("the marks", 20, "this is the threshold of the marks. AIFO does not know it."),
                Slip("a share", 0.5, "this is k. The task asks for packets: k times C."),
            ),
        ),
        Question(
            "Task 3: what admission still does",
            "refused_percent",
            20,
            0.363,
            "Refused packets of setting K, as per cent of its packets, over all four seeds.",
            (
                Slip("without marks", 1.34, "this is setting J, without marks."),
                Slip("the marks", 8.975, "these are the marked packets. They are sent."),
                Slip("both", 9.338, "marked packets are among these. They are sent."),
                Slip("a fraction", 0.00363, "this is a fraction. Multiply by 100."),
            ),
            tolerance=0.01,
        ),
        Question(
            "Task 4: both together",
            "both_over_marks",
            20,
            0.8235,
            "The best mean of `all` of AIFO with marks, over the best of FIFO with marks.",
            (
                Slip("the other way round", 1.214, "this is FIFO over AIFO."),
                Slip("no marks below", 0.302, "below is FIFO without marks. Its best threshold is much better."),
                Slip("no marks at all", 0.36, "this is AIFO over FIFO, both without marks."),
                Slip("admission alone", 0.98, "above is AIFO without marks. Take its best setting with marks."),
                Slip("large flows alone", 0.804, "this is from `large`. The task asks for `all`."),
                Slip("small flows alone", 0.886, "this is from `small`. The task asks for `all`."),
                Slip("what marks add", 0.8403, "this is AIFO with marks over AIFO without them."),
            ),
            tolerance=0.008,
        ),
        Question(
            "Task 5: AIFO is FIFO",
            "setting",
            20,
            "N",
            "The letter of the setting with AIFO that does on all four seeds what FIFO does with the same marks.",
            (
                Slip("nearly", "O", "it still refuses packets: the queue passes k C now and then."),
                Slip(
                    "no marks", "M", "without marks the queue is long, and AIFO refuses more than 1 % of the packets."
                ),
                Slip("FIFO itself", "C", "this is FIFO. Which AIFO has the same numbers?"),
            ),
        ),
    ),
    tcp=TcpRun(
        "ecn_and_admission",
        ("--schemes", "fifo,aifo"),
        "With a lower threshold FIFO becomes faster, and AIFO refuses less. The bars are long, because these are short "
        "runs.",
    ),
)
