"""`p4sched clean`."""

import typer

from p4sched.lab.run import clean as clean_lab


def clean() -> None:
    """Remove the remains of a crashed run: processes, namespaces, links, temporary folders."""
    removed = clean_lab()
    typer.echo("\n".join(removed) if removed else "nothing to clean")
