"""`p4sched topology`: a topology as a file, for virtual time and for networks of containers."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from mininet_topos.nodes import NodeError
from p4sched.cli import writable
from p4sched.cli.command_line import folder
from p4sched.errors import MissingError, UsageError, require, unknown_name
from p4sched.lab.containers import IMAGE, Containers, Engine
from p4sched.lab.topology_file import DescribedFabric, described, read
from p4sched.lab.virtual.topology import BY_NAME, Topology
from p4sched.paths import P4_DIR

NODE = re.compile(r"[a-z0-9_]{1,30}")
"""Names of nodes that both engines take."""
IMAGE_NAME = re.compile(r"[\w.:/@-]+")
FOR_ENGINES = "For networks of containers"


def topology(
    name: Annotated[
        str, typer.Argument(metavar="NAME|FILE", help=f"{', '.join(BY_NAME)}, or a file of this command or your own.")
    ],
    numbers: Annotated[
        list[int] | None,
        typer.Argument(metavar="[NUMBER]...", help="Sizes as for 'mn', for example leaf_spine 2 2 4."),
    ] = None,
    containerlab: Annotated[
        bool, typer.Option("--containerlab", help="Write a folder for containerlab.", rich_help_panel=FOR_ENGINES)
    ] = False,
    kathara: Annotated[
        bool, typer.Option("--kathara", help="Write a folder for Kathará.", rich_help_panel=FOR_ENGINES)
    ] = False,
    program: Annotated[
        str, typer.Option(metavar="NAME", help="Program of p4/ for the switches.", rich_help_panel=FOR_ENGINES)
    ] = "fifo",
    image: Annotated[
        str, typer.Option(metavar="IMAGE", help="Image of all nodes.", rich_help_panel=FOR_ENGINES)
    ] = IMAGE,
    out: Annotated[
        Path | None,
        typer.Option(
            parser=folder, metavar="DIR", help="Folder for the files; default: ./NAME.", rich_help_panel=FOR_ENGINES
        ),
    ] = None,
) -> None:
    """Print a topology as JSON, for virtual time, or write the files of another engine.

    The JSON is for 'p4sched-virtual', 'p4sched run leaf_spine --topology FILE' and scenarios of 'p4sched-simulate'.
    Switches of containers run a program of p4/ with its routes, and their links have no rate.
    """
    require(not (containerlab and kathara), "--containerlab and --kathara are two engines: give one of them")
    fabric = _fabric(name, numbers or ())
    if not containerlab and not kathara:
        typer.echo(json.dumps(fabric.description, indent=1))
        return
    engine = Engine.CONTAINERLAB if containerlab else Engine.KATHARA
    programs = sorted(path.stem for path in P4_DIR.glob("*.p4"))
    if program not in programs:
        raise unknown_name("program", program, programs)
    require(IMAGE_NAME.fullmatch(image) is not None, f"--image '{image}' is not the name of an image")
    title = re.sub(r"[^a-z0-9_]", "_", Path(name).stem.lower())
    containers = Containers(fabric, title, engine, program, image)
    for node in containers.nodes():
        require(NODE.fullmatch(node) is not None, f"node '{node}': {engine} takes names of letters a-z, digits and '_'")
    place = out or Path(title)
    writable.folder("--out", place)
    containers.write(place)
    start = "containerlab deploy" if containerlab else "kathara lstart"
    typer.echo(f"{place}: {len(containers.nodes())} nodes; start them with 'cd {place} && {start}'")


def _fabric(name: str, numbers: Sequence[int]) -> DescribedFabric:
    if name not in BY_NAME:
        path = Path(name)
        if "/" not in name and path.suffix != ".json":
            raise unknown_name("topology", name, BY_NAME)
        require(not numbers, f"{name}: a file has its own sizes")
        if not path.is_file():
            raise MissingError(f"{name}: there is no such file")
        return read(path)
    return described(Path(name), _described(name, numbers))


def _described(name: str, numbers: Sequence[int]) -> Topology:
    try:
        return BY_NAME[name](*numbers)
    except NodeError as error:
        raise UsageError(f"{name}: {error}") from error
    except TypeError as error:
        raise UsageError(f"{name}: too many numbers: {' '.join(map(str, numbers))}") from error
