"""Loads a program of p4/ and routes into a switch: for topologies that Debian's `mn` runs, without the lab around them.

    python -m p4sched.lab.load_program < REQUEST

REQUEST is JSON: {"address": "127.0.0.1:9559", "device_id": 1, "program": "fifo", "routes": [...], "groups": [...]};
what routes and groups are is said in mininet-topos/stations.py.
"""

import asyncio
import json
import sys
from typing import Any

from p4sched.errors import P4schedError
from p4sched.p4rt.compile import compiled
from p4sched.p4rt.routes import entries
from p4sched.p4rt.session import connect


async def load(request: dict[str, Any]) -> None:
    """Loads the program and inserts the routes."""
    program = compiled(request["program"])
    async with connect(request["address"], program, device_id=request["device_id"], force=True) as session:
        await session.insert(entries(request["routes"], request["groups"]))


def main() -> None:
    """Reads the request; a failure is one line and a status that is not zero."""
    try:
        asyncio.run(load(json.load(sys.stdin)))
    except P4schedError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
