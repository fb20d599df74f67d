"""Files for GitHub Classroom and Gradescope, which grade a lab."""

from enum import StrEnum
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from p4sched.errors import UsageError
from p4sched.labs import workspace
from p4sched.labs.catalogue import Entry


class Service(StrEnum):
    """Service that grades."""

    GITHUB_CLASSROOM = "github-classroom"
    GRADESCOPE = "gradescope"


def export(entry: Entry, service: Service, image: str, folder: Path) -> list[Path]:
    """Writes the files of the service into a new folder; returns them.

    For GitHub Classroom, the folder is a template repository: the start of the lab, and a workflow. For Gradescope, it
    holds the sources of an image for "Manual Docker Configuration".

    Raises:
        UsageError: the folder is not empty.
    """
    if service is Service.GITHUB_CLASSROOM:
        workspace.start(entry, folder)
        return [_write(entry, image, "classroom.yml", folder / ".github" / "workflows")]
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"'{folder}' is not empty; choose another folder")
    return [_write(entry, image, name, folder) for name in ("Dockerfile", "run_autograder")]


def _write(entry: Entry, image: str, name: str, folder: Path) -> Path:
    environment = Environment(
        loader=PackageLoader("p4sched.labs"), undefined=StrictUndefined, trim_blocks=True, autoescape=False
    )
    lab = entry.load()
    text = environment.get_template(f"{name}.jinja").render(
        entry=entry, tasks=lab.no_marks(), image=image, asks_solution=lab.asks_solution
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name
