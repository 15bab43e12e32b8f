"""Overviews for administrators: queue, workers, accounts, health."""

from collections.abc import Sequence
from dataclasses import dataclass

from mailqueue.admin import store
from mailqueue.contract.admin import (
    HealthCheck,
    PlatformHealth,
    ProviderBoard,
    QueueBoard,
    QueueLane,
    QueueState,
    WorkerProcess,
)
from mailqueue.db.fetch import Conn


@dataclass(frozen=True, slots=True)
class WaitingBoard:
    """Lanes with unfinished mail, and the other queues."""

    lanes: Sequence[QueueLane]
    queues: Sequence[QueueState]


_STATES = ("ok", "warning", "alarm")
"""States of a check, the best first."""


async def queue(conn: Conn) -> QueueBoard:
    """Return lanes with waiting mail, mail by status, throughput, and the other queues."""
    return QueueBoard(
        lanes=await store.queue_board(conn),
        statuses=await store.outcome_board(conn),
        flow=await store.flow_board(conn),
        queues=await store.queue_states(conn),
    )


async def waiting(conn: Conn) -> WaitingBoard:
    """Return lanes with waiting mail and the other queues, without counting finished mail."""
    return WaitingBoard(await store.queue_board(conn), await store.queue_states(conn))


async def workers(conn: Conn) -> list[WorkerProcess]:
    """Return worker processes that run or ended within the hour."""
    return await store.worker_board(conn)


async def providers(conn: Conn) -> list[ProviderBoard]:
    """Return the sender accounts of all projects, those that need attention first."""
    return await store.provider_board(conn)


async def health(conn: Conn) -> list[HealthCheck]:
    """Return the result of each check of the installation."""
    return await store.health_board(conn)


def health_of(checks: Sequence[HealthCheck]) -> PlatformHealth:
    """Return the worst state of all checks, and each of them. Pure."""
    worst = max((each.state for each in checks), key=_STATES.index, default=_STATES[0])
    return PlatformHealth(worst, checks)
