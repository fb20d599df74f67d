"""Loads p4/fifo.p4 with routes into a switch: for topologies that Debian's `mn` runs, without the lab around them.

    python -m p4sched.lab.load_fifo < REQUEST

REQUEST is JSON: {"address": "127.0.0.1:9559", "device_id": 1, "routes": [{"prefix": ..., "port": ..., "mac": ...}]}.
"""

import asyncio
import json
import sys
from typing import Any

from p4sched.compile import compiled
from p4sched.errors import P4schedError
from p4sched.session import connect
from p4sched.users import route


async def load(request: dict[str, Any]) -> None:
    """Loads the program and inserts the routes."""
    async with connect(request["address"], compiled("fifo"), device_id=request["device_id"], force=True) as session:
        await session.insert([route(r["prefix"], r["port"], r["mac"]) for r in request["routes"]])


def main() -> None:
    """Reads the request; a failure is one line and a status that is not zero."""
    try:
        asyncio.run(load(json.load(sys.stdin)))
    except P4schedError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
