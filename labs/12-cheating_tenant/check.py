"""Lab 12: the right answers, and the wrong ones that have a name. tenants.py makes the tables that they come from."""

from p4sched.labs.answers import FILE, AnswersLab, Question, Slip
from p4sched.labs.lab import TcpRun

LAB = AnswersLab(
    title="A tenant who cheats: find it, and choose a scheduler",
    minutes=60,
    files=(FILE,),
    questions=(
        Question(
            "Task 1: who lies?",
            "liar",
            20,
            3,
            "The number of the tenant whose ranks are not the sizes of its flows.",
            (
                Slip("small flows", 1, "its ranks are small because its flows are. Compare rank with bytes."),
                Slip("the most traffic", 4, "it sends the most bytes. That is no lie: its ranks are its sizes."),
            ),
        ),
        Question(
            "Task 2: how large is the lie?",
            "factor",
            20,
            50,
            "The number by which it divides the size of a large flow.",
            (
                Slip(
                    "small flows too", 33.69, "these are all its bytes over all its ranks. It divides only some ranks."
                ),
                Slip("the other way round", 0.02, "this is rank over bytes. The task asks for bytes over rank."),
                Slip(
                    "a mean of shares",
                    1.826,
                    "this is one over the mean of rank / bytes. Flows with honest ranks hide the others.",
                ),
            ),
            tolerance=0.03,
        ),
        Question(
            "Task 3: what does it gain?",
            "gain",
            20,
            0.445,
            "Mean slowdown of its large flows in flows.csv, over that in honest.csv.",
            (
                Slip("all its flows", 0.753, "these are all its flows. The task asks for those of 100 kB and more."),
                Slip("the other way round", 2.247, "this is honest over now. A gain is below 1."),
                Slip("times", 0.415, "this is from completion times, in which the largest flows count most."),
                Slip("a mean of ratios", 0.578, "this is the mean of each flow's ratio, not the ratio of the means."),
            ),
            tolerance=0.015,
        ),
        Question(
            "Task 4: who pays?",
            "price",
            20,
            3.03,
            "The same ratio for the large flows of the other three tenants together.",
            (
                Slip("the liar too", 2.232, "the flows of the liar are among these. Leave them out."),
                Slip(
                    "all their flows", 3.201, "these are all their flows. The task asks for those of 100 kB and more."
                ),
                Slip("a mean of ratios", 4.51, "this is the mean of each flow's ratio, not the ratio of the means."),
                Slip("the other way round", 0.33, "this is honest over now. A price is above 1."),
                Slip("medians", 2.783, "this is a ratio of medians."),
            ),
            tolerance=0.015,
        ),
        Question(
            "Task 5: which scheduler?",
            "scheduler",
            20,
            "tree",
            "The fastest scheduler for all flows, of those with which the liar's large flows gain less than 5 %.",
            (
                Slip("the best without lies", "pifo", "it is the best as long as nobody lies. What does a lie change?"),
                Slip(
                    "no ranks at all",
                    "fifo",
                    "a lie changes nothing, but there is a faster one for which it does not pay.",
                ),
                Slip(
                    "no ranks but shares",
                    "drr",
                    "a lie changes nothing, but there is a faster one for which it does not pay.",
                ),
                Slip("still trusts ranks", "aifo", "it believes ranks: the liar gains, and the others pay."),
            ),
        ),
    ),
    tcp=TcpRun(
        "cheating",
        ("--schemes", "pifo,tree"),
        "The panel in the middle has a liar. With PIFO, the flows of the others become slower; with the tree, nothing "
        "changes. The bars are long, because these are two short runs.",
    ),
)
