"""Loads a program of p4/ and routes into a switch, for topologies that run under `mn` of Debian, without the lab.

    python -m p4sched.lab.load_program < REQUEST

REQUEST is JSON: {"address": "127.0.0.1:9559", "device_id": 1, "program": "fifo", "routes": [...], "groups": [...]}.
mininet-topos/stations.py describes routes and groups.
"""

import asyncio
import json
import sys
from typing import Any

from p4sched.errors import P4schedError
from p4sched.p4rt.compile import compiled_program
from p4sched.p4rt.routes import entries
from p4sched.p4rt.session import connect


async def load(request: dict[str, Any]) -> None:
    """Loads the program and inserts the routes."""
    program = compiled_program(request["program"])
    async with connect(request["address"], program, device_id=request["device_id"], force=True) as session:
        await session.insert(entries(request["routes"], request["groups"]))


def main() -> None:
    """Reads the request. Prints one line and exits with a status other than 0 if it fails."""
    try:
        asyncio.run(load(json.load(sys.stdin)))
    except P4schedError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
