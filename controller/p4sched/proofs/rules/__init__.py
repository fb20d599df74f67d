"""The papers' rules in exact integers, written from the papers: the other side of each proof.

docs/PROOFS.md lists what the papers leave open, and what the laboratory adds.
"""

from collections.abc import Mapping

from p4sched.proofs.rules.aifo import Aifo
from p4sched.proofs.rules.fdpa import Fdpa
from p4sched.proofs.rules.fifo import Fifo
from p4sched.proofs.rules.packs import Packs
from p4sched.proofs.rules.rifo import Rifo
from p4sched.proofs.rules.scheme import Rule
from p4sched.proofs.rules.sp_pifo import SpPifo

RULES: Mapping[str, type[Rule]] = {
    "fifo": Fifo,
    "aifo": Aifo,
    "rifo": Rifo,
    "packs": Packs,
    "sp_pifo": SpPifo,
    "fdpa": Fdpa,
}
"""Rules by the name of the scheme."""
