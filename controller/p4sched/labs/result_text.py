"""A check as text."""

from p4sched.labs.lab import CheckResult


def text(result: CheckResult) -> str:
    """Text for a terminal and for a page of grades."""
    lines = []
    for marks in result.marks:
        lines.append(f"{marks.task}: {marks.score} of {marks.maximum}")
        lines += [f"    {line}".rstrip() for line in marks.says]
        if marks.says:
            lines.append("")
    return "\n".join([*lines, f"{result.score} of {result.maximum} marks"])
