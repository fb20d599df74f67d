"""A check as one HTML page: marks, reasons, and the figure of the run with TCP next to the expected one."""

import base64
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from p4sched.labs.lab import CheckResult, Lab


def page(heading: str, lab: Lab, result: CheckResult, expected: Path | None, problem: str | None = None) -> str:
    """A page without links to other files. `problem`: a sentence that says why the check stopped."""
    environment = Environment(
        loader=PackageLoader("p4sched.labs"), autoescape=select_autoescape(["jinja"]), undefined=StrictUndefined
    )
    return environment.get_template("checked.html.jinja").render(
        heading=heading,
        lab=lab,
        result=result,
        figure=_embedded(result.figure),
        expected=_embedded(expected),
        problem=problem,
    )


def _embedded(figure: Path | None) -> str | None:
    if figure is None or not figure.is_file():
        return None
    return f"data:image/png;base64,{base64.b64encode(figure.read_bytes()).decode()}"
