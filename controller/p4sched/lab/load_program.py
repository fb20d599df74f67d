"""Loads p4/fifo.p4 and routes into a switch: for topologies that Debian's `mn` runs, without the lab around them.

    python -m p4sched.lab.load_fifo < REQUEST

REQUEST is JSON: {"address": "127.0.0.1:9559", "device_id": 1, "routes": [...], "groups": [...]}; what routes and groups
are is said in mininet-topos/stations.py.
"""

import asyncio
import json
import sys
from typing import Any

from p4sched.compile import compiled
from p4sched.errors import P4schedError
from p4sched.routes import entries
from p4sched.session import connect


async def load(request: dict[str, Any]) -> None:
    """Loads the program and inserts the routes."""
    async with connect(request["address"], compiled("fifo"), device_id=request["device_id"], force=True) as session:
        await session.insert(entries(request["routes"], request["groups"]))


def main() -> None:
    """Reads the request; a failure is one line and a status that is not zero."""
    try:
        asyncio.run(load(json.load(sys.stdin)))
    except P4schedError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
