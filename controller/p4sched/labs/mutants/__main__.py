"""The command line of the package."""

import argparse
import sys

from p4sched.labs import catalogue
from p4sched.labs.mutants.change import Mutant, sample
from p4sched.labs.mutants.run import LABS, Outcome, Solution, outcomes, solution


def main() -> int:
    """Prints lines for each lab. Returns 1 if a mutant gets full marks and is not proved equivalent."""
    parser = argparse.ArgumentParser(prog="python -m p4sched.labs.mutants", description=__doc__)
    parser.add_argument("labs", nargs="*", metavar="LAB", help=f"labs to check; default: {', '.join(LABS)}")
    parser.add_argument("--most", type=int, metavar="COUNT", help="check only a sample of COUNT mutants of each lab")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample")
    options = parser.parse_args()
    numbers = [catalogue.find(name).number for name in options.labs] or list(LABS)
    unknown = [number for number in numbers if number not in LABS]
    if unknown:
        parser.error(f"lab {unknown[0]} has no rule in P4 here; choose from {', '.join(LABS)}")
    return max(_report(solution(number), options.most, options.seed) for number in numbers)


def _report(of: Solution, most: int | None, seed: int) -> int:
    # imported here because it needs Z3, which is not part of the project's environment
    from p4sched.labs.mutants.equal import QUESTIONS, compare  # noqa: PLC0415

    every = of.mutants() if most is None else sample(of.mutants(), most, seed)
    found: dict[Outcome, list[Mutant]] = {kind: [] for kind in Outcome}
    for mutant, outcome in outcomes(of, every):
        found[outcome].append(mutant)
    survivors = found[Outcome.SURVIVED]
    original, question = of.tree, QUESTIONS[of.entry.number]
    answers = [(mutant, compare(question, original, of.parse(mutant.text), mutant.control)) for mutant in survivors]
    left = [(mutant, answer) for mutant, answer in answers if not answer.equivalent]
    print(
        f"lab {of.entry.number}: {len(every)} mutants, {len(every) - len(found[Outcome.REFUSED])} compile, "
        f"{len(found[Outcome.KILLED])} killed, {len(survivors) - len(left)} equivalent, {len(left)} survived"
    )
    for mutant, answer in answers:
        if answer.equivalent:
            print(f"  equivalent: {mutant.description()}")
    for mutant, answer in left:
        kind = "UNDECIDED" if answer.equivalent is None else "SURVIVED"
        print(f"  {kind}: {mutant.description()}" + (f"\n    {answer.example}" if answer.example else ""))
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
