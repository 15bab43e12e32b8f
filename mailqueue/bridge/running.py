"""Runs the consumers of all queues, and reports their states to the database."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from mailqueue.bridge import store
from mailqueue.bridge.intake import LendConnection, QueueIntake
from mailqueue.bridge.model import QueueBinding
from mailqueue.contract.automation.bridge import ConsumptionState
from mailqueue.core.errors import ConfigError, MailqueueError
from mailqueue.ports.broker import Broker
from mailqueue.projects.ids import find_project_id
from mailqueue.telemetry.log import get_logger

REPORT_SECONDS = 2.0
"""Interval of looks for a state that changed."""
REPORTS_UNCHANGED = 5
"""Looks after which a state that did not change is reported again."""

log = get_logger(__name__)


async def run_bridge(
    broker: Broker,
    bindings: Sequence[QueueBinding],
    lend: LendConnection,
    stop: asyncio.Event,
    *,
    delivery_limit: int,
    ready: Callable[[], None],
) -> None:
    """Take the messages of all queues until `stop` is set and those in hand are finished.

    Raises:
        ConfigError: a queue is of a project that does not exist.
    """
    for binding in bindings:
        async with lend() as conn:
            if await find_project_id(conn, binding.project) is None:
                raise ConfigError(
                    f"MAILQUEUE_RABBITMQ_QUEUES: there is no project {binding.project!r}"
                )
    intakes = [QueueIntake(broker, one, lend, delivery_limit=delivery_limit) for one in bindings]
    try:
        async with asyncio.TaskGroup() as group:
            working = [group.create_task(one.run(stop)) for one in intakes]
            reporting = group.create_task(_report(intakes, lend))
            ready()
            await asyncio.wait(working)
            reporting.cancel()
        await _write(intakes, lend)
    finally:
        await broker.close()


async def _report(intakes: Sequence[QueueIntake], lend: LendConnection) -> None:
    last: list[tuple[ConsumptionState, str | None]] = []
    unchanged = 0
    while True:
        states = [(one.status.state, one.status.reason) for one in intakes]
        unchanged = unchanged + 1 if states == last else 0
        if unchanged % REPORTS_UNCHANGED == 0:
            await _write(intakes, lend)
        last = states
        await asyncio.sleep(REPORT_SECONDS)


async def _write(intakes: Sequence[QueueIntake], lend: LendConnection) -> None:
    with suppress(MailqueueError):  # the next report has what this one had
        async with lend() as conn:
            for one in intakes:
                status, received = one.status, one.status.received
                await store.note_queue(
                    conn,
                    one.binding.project,
                    one.binding.queue,
                    state=status.state,
                    reason=status.reason,
                    received=received,
                )
                status.received -= received
