"""How webhooks and what they were told look at the command line."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict

from mailqueue.cli.support.app import opened
from mailqueue.db.fetch import Conn
from mailqueue.webhooks.model import DeliveryLog, WebhookRow


@asynccontextmanager
async def lent() -> AsyncIterator[Conn]:
    """Open a connection for a moment: none is held while an endpoint is waited for."""
    async with opened() as app:
        yield app.conn


def fields_of(one: WebhookRow) -> dict[str, object]:
    """Return what is shown of a webhook."""
    return {name: value for name, value in asdict(one).items() if name != "project_id"}


def document_of(log: DeliveryLog) -> dict[str, object]:
    """Return a delivery as one document."""
    return {
        **asdict(log.delivery),
        "payload": log.payload,
        "calls": [asdict(one) for one in log.attempts],
    }
