"""Which services run: listeners report that they do by a heartbeat, workers have their own."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from uuid import uuid4

import mailqueue
from mailqueue.contract.infrastructure import ServiceSeen
from mailqueue.core.services.model import Service
from mailqueue.db.faults import OF_DATABASE
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.operations.store import services as store
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.telemetry.log import get_logger

BEAT_SECONDS = 10.0
"""Interval of heartbeats; after 30 seconds without one a process counts as ended."""
STOP_SECONDS = 2.0
"""Limit of the statement that says that the process has ended."""

log = get_logger(__name__)


async def list_all(conn: Conn) -> list[ServiceSeen]:
    """Return each service, and how many processes run it."""
    return await store.list_all(conn)


def not_running(
    services: Iterable[Service], seen: Iterable[ServiceSeen], given: frozenset[str]
) -> list[Service]:
    """Return the services that no process runs though all variables are set that they need. Pure.

    `given` are the names of variables that are set, as `Service.needs` has them.
    """
    running = {one.service for one in seen if one.processes}
    return [
        one for one in services if one.needs and given >= {*one.needs} and one.name not in running
    ]


@asynccontextmanager
async def reporting(
    database: DatabaseSettings,
    listeners: Mapping[str, Callable[[], bool]],
    *,
    is_in_up: bool = False,
    every: float = BEAT_SECONDS,
) -> AsyncIterator[None]:
    """Report during the block that this process runs these listeners, by name.

    A listener is left out once its function returns False. The first report is written before the
    block begins, unless the database is unavailable. A report that the database refuses, such as
    for a right that is missing, is logged once; the next may succeed.
    """
    launch_id = uuid4()
    link = Link(database, "mailqueue/services")

    async def keep(names: list[str]) -> None:
        await link.call(
            partial(
                store.keep,
                launch_id=launch_id,
                services=names,
                host=socket.gethostname(),
                pid=os.getpid(),
                version=mailqueue.__version__,
                is_in_up=is_in_up,
            )
        )

    async def beat_forever() -> None:
        is_refused = False
        while True:
            try:
                await keep([name for name, is_running in listeners.items() if is_running()])
            except OF_DATABASE as exc:
                if not is_refused:
                    log.error("services.refused", error=str(exc).partition("\n")[0])
                is_refused = True
            else:
                is_refused = False
            await link.close()  # seldom used: no process of the server waits for the next one
            first.set()
            await asyncio.sleep(every)

    first = asyncio.Event()
    beating = asyncio.create_task(beat_forever(), name="services")
    beating.add_done_callback(_ended)
    waiting = asyncio.create_task(first.wait())
    try:
        await asyncio.wait(
            {beating, waiting}, timeout=STOP_SECONDS, return_when=asyncio.FIRST_COMPLETED
        )
        yield
    finally:
        waiting.cancel()
        beating.cancel()
        await asyncio.gather(beating, waiting, return_exceptions=True)
        with suppress(Exception):  # silent processes are left out after 30 seconds
            async with asyncio.timeout(STOP_SECONDS):
                await keep([])
        await link.close()


def _ended(task: asyncio.Task[None]) -> None:
    """Log the end of heartbeats: the listeners go on, but are not seen."""
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("services.unreported", error=str(error).partition("\n")[0])
