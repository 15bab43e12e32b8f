"""Load the URLs and signing keys of endpoints."""

import asyncio
import math
from collections.abc import Callable, Collection
from datetime import timedelta
from uuid import UUID

from mailqueue.core.errors import ConfigError, Locked, SealBroken
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.telemetry.log import get_logger
from mailqueue.vault.masterkey import MasterKey
from mailqueue.webhooks.dispatcher import EndpointTarget
from mailqueue.webhooks.endpoints import secrets_of
from mailqueue.webhooks.model import WebhookKeys
from mailqueue.webhooks.signing import key_of
from mailqueue.webhooks.store import endpoints as endpoints_store

CACHE_SECONDS = 60.0
"""How long an opened secret is used; a project that locks its secrets takes effect after that."""
_LOCKED_WAIT = timedelta(minutes=1)
_FAULT_WAIT = timedelta(minutes=5)

log = get_logger(__name__)


class EndpointTargets:
    """Loads the targets of endpoints, many at a time."""

    def __init__(self, link: Link, read_master: Callable[[], MasterKey | None]) -> None:
        self._link = link
        self._read_master = read_master

    async def find(self, ids: Collection[UUID]) -> dict[UUID, EndpointTarget]:
        """Return the targets of these endpoints; deleted ones are left out."""
        return await self._link.call(lambda conn: self._read(conn, ids))

    async def _read(self, conn: Conn, ids: Collection[UUID]) -> dict[UUID, EndpointTarget]:
        return {
            keys.id: await self._target(conn, keys)
            for keys in await endpoints_store.read_keys(conn, [*ids])
        }

    async def _target(self, conn: Conn, keys: WebhookKeys) -> EndpointTarget:
        now = asyncio.get_running_loop().time()
        try:
            secrets = await secrets_of(conn, keys, master=self._read_master())
        except Locked:
            why = "the project's secrets are locked by its own key"
            return EndpointTarget(keys.revision, read_at=now, fault=why, wait=_LOCKED_WAIT)
        except (ConfigError, SealBroken) as exc:
            log.error("webhook.unsigned", webhook_id=str(keys.id), error=str(exc))
            why = "its secret cannot be opened here"
            return EndpointTarget(keys.revision, read_at=now, fault=why, wait=_FAULT_WAIT)
        ends = [math.inf, now + (keys.previous_seconds or 0.0)]
        signing = tuple((key_of(one), until) for one, until in zip(secrets, ends, strict=False))
        return EndpointTarget(keys.revision, keys.url, signing, read_at=now)
