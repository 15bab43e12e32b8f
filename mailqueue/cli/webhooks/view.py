"""Output of webhooks and their deliveries."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict

from mailqueue.cli.support.app import opened
from mailqueue.db.fetch import Conn
from mailqueue.webhooks.model import DeliveryLog, WebhookRow


@asynccontextmanager
async def lent() -> AsyncIterator[Conn]:
    """Yield a connection for one step; none is held during a call to an endpoint."""
    async with opened() as app:
        yield app.conn


def fields_of(one: WebhookRow) -> dict[str, object]:
    """Return the printed fields of a webhook."""
    return {name: value for name, value in asdict(one).items() if name != "project_id"}


def document_of(log: DeliveryLog) -> dict[str, object]:
    """Return a delivery as a JSON object."""
    return {
        **asdict(log.delivery),
        "payload": log.payload,
        "calls": [asdict(one) for one in log.attempts],
    }
