"""What an administrator looks at when something is asked: queue, workers, accounts, health."""

from mailqueue.administration import store
from mailqueue.administration.model import WorkerBoard
from mailqueue.contract.administration import HealthCheck, ProviderBoard, QueueBoard
from mailqueue.db.fetch import Conn


async def queue(conn: Conn) -> QueueBoard:
    """Return what waits and why, all mail by status, and how fast it goes."""
    return QueueBoard(
        lanes=await store.queue_board(conn),
        statuses=await store.outcome_board(conn),
        flow=await store.flow_board(conn),
    )


async def workers(conn: Conn) -> list[WorkerBoard]:
    """List worker processes that run or ended within the hour."""
    return await store.worker_board(conn)


async def providers(conn: Conn) -> list[ProviderBoard]:
    """List the sender accounts of all projects, those with something to do first."""
    return await store.provider_board(conn)


async def health(conn: Conn) -> list[HealthCheck]:
    """List what each check of the installation found."""
    return await store.health_board(conn)
