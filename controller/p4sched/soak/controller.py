"""`python -m p4sched.soak.controller PLAN ROUND`: programs all switches of a plan, and writes until it is killed.

The round selects the program. The controller prints a line when all switches have it.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from p4sched.control.controller import SwitchAddress
from p4sched.lab.controllers import SwitchPlan, python_controllers
from p4sched.p4rt.rank_source import RankSource
from p4sched.schemes import AIFO, FIFO, RIFO

SCHEMES = (FIFO, AIFO, RIFO)
"""Schemes with one queue: packets of a flow stay in order."""
READY = "ready"
BETWEEN_WRITES_S = 0.05


async def control(plan: dict[str, Any], round_number: int) -> None:
    """Takes over all switches, replaces their programs, and writes parameters again and again."""
    setup = SCHEMES[round_number % len(SCHEMES)].default_setup()
    parameters = setup.parameters
    assert parameters is not None
    plans = {
        name: SwitchPlan(
            SwitchAddress(switch["address"], switch["device_id"]),
            setup,
            {int(port): interface for port, interface in switch["ports"].items()},
            switch["routes"],
            switch["groups"],
            rank_source=RankSource.HEADER,
            parameters=parameters,
        )
        for name, switch in plan.items()
    }
    async with python_controllers(plans) as running:
        print(READY, flush=True)
        while True:
            for controller in running.values():
                await controller.set_parameters(parameters)
                await asyncio.sleep(BETWEEN_WRITES_S)


if __name__ == "__main__":
    asyncio.run(control(json.loads(Path(sys.argv[1]).read_text()), int(sys.argv[2])))
