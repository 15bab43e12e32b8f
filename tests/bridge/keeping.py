"""Dead letters and queues of RabbitMQ, as its consumer writes them."""

from uuid import UUID

from mailqueue.bridge import letters, store
from mailqueue.bridge.model import Dead, QueueBinding
from mailqueue.contract.automation.bridge import ConsumptionState
from mailqueue.db.fetch import Conn
from mailqueue.ports.broker import BrokerMessage
from tests.bridge.messages import MASSTRANSIT

ORDERS = QueueBinding("orders", "default")


async def note_queue(
    conn: Conn,
    project: str,
    *,
    queue: str = "orders",
    state: ConsumptionState = ConsumptionState.CONSUMING,
    reason: str | None = None,
) -> None:
    """Report the state of a queue, of which a message was handled."""
    await store.note_queue(conn, project, queue, state=state, reason=reason, received=1)


async def unhandled(
    conn: Conn,
    project: str,
    reason: str = "it failed",
    *,
    queue: str = "orders",
    body: bytes = b"no event",
) -> UUID:
    """Keep a message that could not be handled; return its id."""
    message = BrokerMessage(1, body, content_type=MASSTRANSIT, headers={"x-delivery-count": 3})
    return await letters.keep(conn, QueueBinding(queue, project), message, Dead(reason))
