"""A check as text."""

from p4sched.labs.lab import CheckResult


def text(checked: CheckResult) -> str:
    """Text for a terminal and for a page of grades."""
    lines = []
    for marks in checked.marks:
        lines.append(f"{marks.task}: {marks.given} of {marks.of}")
        lines += [f"    {line}".rstrip() for line in marks.says]
        if marks.says:
            lines.append("")
    return "\n".join([*lines, f"{checked.given} of {checked.of} marks"])
