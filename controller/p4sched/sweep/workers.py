"""Workers of points: processes of this machine, or workers of Dask."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

from p4sched.errors import P4schedError
from p4sched.sweep.plan import Plan, Point
from p4sched.sweep.point import ATTEMPTS, Outcome, outcome, outcome_here

LOCAL = "local"
"""Address that means: scheduler and workers of Dask in processes of this machine."""
Done = tuple[Point, Outcome]
Work = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function that can be pickled, and its arguments."""
PATIENCE_S = 30
"""Time limit for an answer of Dask's scheduler."""


async def processes(
    plan: Plan, points: Sequence[Point], jobs: int, scratch: Path, keep_flows: bool = False
) -> AsyncIterator[Done]:
    """Runs the points, `jobs` at the same time, below the folder `scratch`; yields each when it is done."""
    waiting = iter(enumerate(points))

    async def run(number: int, point: Point) -> Done:
        folder = scratch / str(number)
        result = await outcome(point.scenario, plan.programs, plan.check, folder, keep_flows)
        shutil.rmtree(folder)
        return point, result

    running = {asyncio.create_task(run(*each)) for _, each in zip(range(jobs), waiting, strict=False)}
    try:
        while running:
            run_points, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in run_points:
                following = next(waiting, None)
                if following is not None:
                    running.add(asyncio.create_task(run(*following)))
                yield task.result()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def dask(
    plan: Plan, points: Sequence[Point], jobs: int, address: str, keep_flows: bool = False
) -> AsyncIterator[Done]:
    """Runs the points on Dask: on `jobs` workers of this machine, or on the workers of the scheduler at an address."""
    work: list[Work] = [(outcome_here, (point.scenario, plan.programs, plan.check, keep_flows)) for point in points]
    async for place, result in on_dask(work, jobs, address):
        yield points[place], {"error": _sentence(result)} if isinstance(result, BaseException) else result


async def on_dask(work: Sequence[Work], jobs: int, address: str) -> AsyncIterator[tuple[int, Any]]:
    """Calls functions on Dask; yields the place and the result of each when it is done. An error is a result."""
    try:
        from distributed import Client, LocalCluster, as_completed  # noqa: PLC0415 - an optional package
    except ImportError as error:
        raise P4schedError(
            "--dask needs the package 'distributed': pip install -e '.[dask]' in the project's folder"
        ) from error

    async def call_all(client: Client) -> AsyncIterator[tuple[int, Any]]:
        futures = {
            client.submit(function, *arguments, pure=False, retries=ATTEMPTS - 1): place
            for place, (function, arguments) in enumerate(work)
        }
        async for future in as_completed(futures, raise_errors=False):
            error = await future.exception() if future.status == "error" else None
            yield futures[future], await future.result() if error is None else error

    if address == LOCAL:
        async with (
            LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None, asynchronous=True) as cluster,
            Client(cluster, asynchronous=True) as client,
        ):
            async for each in call_all(client):
                yield each
        return
    joined: Client | None = None
    try:
        async with asyncio.timeout(PATIENCE_S):  # a client's own timeout does not end when another server answers
            joined = Client(address, asynchronous=True, timeout=PATIENCE_S)
            await joined
    except (OSError, ValueError) as error:
        if joined is not None:
            await joined.close(timeout=1)
        cause = f"nothing in {PATIENCE_S} s" if isinstance(error, TimeoutError) else _sentence(error)
        raise P4schedError(f"--dask {address}: no scheduler of Dask answers: {cause}") from error
    async with joined:
        async for each in call_all(joined):
            yield each


def _sentence(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
