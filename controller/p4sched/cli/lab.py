"""`p4sched lab`: the classroom labs."""

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.markup import escape
from rich.table import Table
from typer.core import TyperGroup

from p4sched.cli import writable
from p4sched.cli.command_line import folder
from p4sched.errors import P4schedError, StoppedError, UsageError
from p4sched.interrupts import interruptible
from p4sched.labs import catalogue, checking, export, grades, grading, result_text, submissions, workspace
from p4sched.labs.displayable import displayable
from p4sched.labs.export import Service
from p4sched.labs.page import page
from p4sched.labs.sandbox import MEGABYTE, Limits, Sandbox, has_bubblewrap
from p4sched.labs.tcp_run import FIGURE

HERE = Path()
RESULTS = "check"
"""Folder for results of a check, in the student's folder."""
WAITING = 10
"""Limit of elapsed time, as a multiple of the limit of CPU time."""


class _Sentences(TyperGroup):
    """Reports a file or folder that cannot be read or written in one sentence."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except shutil.Error as error:
            # an error of shutil with many files: a tuple (from, to, "[Errno 28] why: 'from' -> 'to'") for each
            _, to, text = error.args[0][0]
            why = text.partition("] ")[2].partition(": '")[0] or text
            raise P4schedError(f"'{to}': {why}") from error
        except OSError as error:
            if error.filename is None:
                raise
            raise P4schedError(f"'{error.filename2 or error.filename}': {error.strerror}") from error


app = typer.Typer(
    cls=_Sentences, name="lab", help="Labs for a class: start one, check your work, get hints.", no_args_is_help=True,
    add_completion=False, pretty_exceptions_enable=False,
)  # fmt: skip

Work = Annotated[
    Path, typer.Argument(parser=folder, metavar="[DIR]", help="Folder of the lab; default: the current folder.")
]


@app.command("list")
def list_labs() -> None:
    """List the labs."""
    table = Table("lab", "what you do", "minutes", box=None, header_style="bold")
    for entry in catalogue.labs():
        lab = entry.load()
        table.add_row(entry.folder.name, escape(lab.title), str(lab.minutes))
    Console().print(table)


@app.command("start")
def start(
    which: Annotated[str, typer.Argument(metavar="LAB", help="Number or name of the lab, for example 04.")],
    where: Annotated[
        Path | None,
        typer.Argument(parser=folder, metavar="[DIR]", help="Folder to make; default: the name of the lab."),
    ] = None,
) -> None:
    """Make a folder with the files of a lab."""
    entry = catalogue.find(which)
    place = where or Path(entry.folder.name)
    writable.folder("DIR", place)
    made = workspace.start(entry, place)
    files = ", ".join(entry.load().files)
    typer.echo(f"{made.folder}: read README.md, then edit {files}, then: p4sched lab check {made.folder}")


@app.command("check")
def check(
    where: Work = HERE,
    live: Annotated[
        bool, typer.Option("--live", help="Run TCP in real time, between emulated hosts. Needs root.")
    ] = False,
    no_tcp: Annotated[bool, typer.Option("--no-tcp", help="Skip the run with TCP.")] = False,
    task: Annotated[int | None, typer.Option(min=1, metavar="N", help="Check only task N; write no report.")] = None,
) -> int:
    """Check your work. Shows what is right, what is wrong, and why.

    Writes DIR/check/report.html. Exit code 0 means full marks.
    """
    work = workspace.open_workspace(where)
    lab = work.entry.load()
    if task is not None:
        return _check_task(work, task)
    results = where / RESULTS
    report = results / "report.html"
    writable.file("DIR", report, in_new_folder=True)
    (results / FIGURE).unlink(missing_ok=True)
    with interruptible():
        checked, problem = checking.check(work.entry, where, Sandbox(), figures=None if no_tcp else results, live=live)
    typer.echo(result_text.text(checked))
    results.mkdir(exist_ok=True)
    heading = checking.title(work.entry, lab)
    report.write_text(page(heading, lab, checked, work.entry.folder / catalogue.EXPECTED, problem), encoding="utf-8")
    if problem is not None:
        typer.echo(problem)
    elif checked.figure is not None and lab.tcp is not None:
        typer.echo(f"figure: {checked.figure}   with the expected one: {report}")
        if checked.full:
            typer.echo(lab.tcp.shows)
    return 0 if checked.full else 1


def _check_task(work: workspace.Workspace, number: int) -> int:
    tasks = len(work.entry.load().no_marks())
    if number > tasks:
        raise UsageError(f"--task {number}: {work.entry.folder.name} has {tasks} tasks")
    checked, _ = checking.check(work.entry, work.folder, Sandbox())
    one = replace(checked, marks=(checked.marks[number - 1],))
    typer.echo(result_text.text(one))
    return 0 if one.full else 1


@app.command("hint")
def hint(
    where: Work = HERE, seen: Annotated[bool, typer.Option("--all", help="Show all hints that you have seen.")] = False
) -> None:
    """Show the next hint."""
    if seen:
        work = workspace.open_workspace(where)
        for number, text in enumerate(work.entry.hints()[: work.hints_shown], 1):
            Console().print(Markdown(f"## Hint {number}. {text}"))
        return
    text, number, count = workspace.next_hint(workspace.open_workspace(where))
    Console().print(Markdown(f"## Hint {number} of {count}. {text}"))


@app.command("solution")
def solution(
    where: Work = HERE,
    write: Annotated[bool, typer.Option("--write", help="Also copy it into the folder; your files are kept.")] = False,
) -> None:
    """Show the solution."""
    work = workspace.open_workspace(where)
    for name in work.entry.load().files:
        text = (work.entry.solution / name).read_text(encoding="utf-8")
        typer.echo(f"{name}:\n\n{text}")
    if write:
        kept = workspace.reset(work, work.entry.solution)
        typer.echo(f"the solution is in {where}{_kept(kept)}")


@app.command("grade")
def grade(
    which: Annotated[str, typer.Argument(metavar="LAB", help="Number or name of the lab, for example 04.")],
    where: Annotated[
        Path,
        typer.Argument(
            parser=folder, metavar="SUBMISSIONS", help="Folder with one folder or archive for each submission."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE.csv",
            help="File for the marks. JUnit XML and a page for each submission go into the same folder.",
        ),
    ] = Path("grades.csv"),
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1, max=64, metavar="N", help="Submissions graded at the same time; default: one for each CPU."
        ),
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(
            min=1, max=86_400, help="CPU seconds for each submission. The limit of elapsed time is ten times this."
        ),
    ] = 30,
    memory: Annotated[
        int, typer.Option(min=256, max=1_000_000, metavar="MB", help="Memory for each process of a submission.")
    ] = 1024,
    trusted: Annotated[
        bool,
        typer.Option("--trusted", help="No sandbox, only the limits. For a container that has nothing to protect."),
    ] = False,
    results: Annotated[
        Path | None,
        typer.Option(
            "--gradescope",
            metavar="results.json",
            help="Grade SUBMISSIONS as one submission and write this file for Gradescope.",
        ),
    ] = None,
) -> None:
    """Grade submissions, each in a sandbox: no network, no other files, limited time, memory and processes."""
    entry = catalogue.find(which)
    if not trusted and not has_bubblewrap():
        raise UsageError("grading needs bubblewrap (Debian: apt-get install bubblewrap), or --trusted for no sandbox")
    if out.suffix != submissions.TABLE:
        raise UsageError(f"--out {out}: the name of the file must end in .csv")
    files = entry.load().files
    # the folder that the teacher names may be a link; its content may not
    paths = [where.resolve()] if results else submissions.submissions(where, files, out.with_suffix(""))
    # reports an unwritable place before grading begins
    if results is not None:
        writable.file("--gradescope", results)
    else:
        writable.file("--out", out, in_new_folder=True)
        writable.file("--out", grades.junit_of(out), in_new_folder=True)
        writable.folder("--out", grades.pages_of(out))
    limits = Limits(seconds, seconds * WAITING, memory * MEGABYTE)
    names = submissions.names(paths, files)
    with interruptible():
        cpus = len(os.sched_getaffinity(0))
        grading_result = grading.grade(entry, paths, names, jobs or cpus, limits, isolated=not trusted)
    graded_submissions = grading_result.submissions
    if grading_result.interrupted and results is not None:
        raise StoppedError
    if results is not None:
        results.write_text(grades.gradescope(graded_submissions[0]), encoding="utf-8")
        return
    pages = grades.write(entry, graded_submissions, out)
    table = Table("submission", "marks", "", box=None, header_style="bold")
    for submission in graded_submissions:
        table.add_row(
            escape(submission.name),
            f"{submission.result.score} of {submission.result.maximum}",
            escape("; ".join(filter(None, (submission.remark, submission.mistakes)))),
        )
    Console().print(table)
    known = {*paths, *submissions.earlier_marks(where)}
    others = [path.name for path in sorted(where.iterdir()) if path not in known and not path.name.startswith(".")]
    if others:
        left = displayable(", ".join(others))
        typer.echo(f"ignored (not a folder, an archive or a file of the lab): {left}")
    typer.echo(f"marks: {out}   JUnit: {out.with_suffix('.xml')}   pages: {pages}")
    if grading_result.interrupted:
        raise StoppedError


@app.command("export")
def export_(
    which: Annotated[str, typer.Argument(metavar="LAB", help="Number or name of the lab, for example 04.")],
    where: Annotated[Path, typer.Argument(parser=folder, metavar="DIR", help="Folder to make.")],
    to: Annotated[Service, typer.Option(help="Service that grades.")],
    image: Annotated[str, typer.Option(help="Address of the lab's image (docker/README.md), for the service.")],
) -> None:
    """Write the files that GitHub Classroom or Gradescope needs to grade a lab."""
    writable.folder("DIR", where)
    for file in export.export(catalogue.find(which), to, image, where):
        typer.echo(str(file))


@app.command("reset")
def reset(where: Work = HERE) -> None:
    """Restore the first files of the lab. Your own files are kept in a folder next to them."""
    work = workspace.open_workspace(where)
    kept = workspace.reset(work, work.entry.start)
    typer.echo(f"{where} has its first files again{_kept(kept)}")


def _kept(folder: Path | None) -> str:
    return "; there was no file of yours" if folder is None else f"; your files are in {folder}"
