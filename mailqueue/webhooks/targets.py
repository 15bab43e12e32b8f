"""Load the URLs, formats and signing keys of endpoints."""

import asyncio
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from mailqueue.core.errors import ConfigError, Locked, SealBroken
from mailqueue.db.fetch import Conn
from mailqueue.telemetry.log import get_logger
from mailqueue.vault.masterkey import MasterKey
from mailqueue.webhooks.endpoints import secrets_of
from mailqueue.webhooks.formats.model import WebhookFormat
from mailqueue.webhooks.formats.registry import FORMATS
from mailqueue.webhooks.formats.standard import MAILQUEUE_FORMAT
from mailqueue.webhooks.model import WebhookKeys
from mailqueue.webhooks.store import endpoints as endpoints_store

CACHE_SECONDS = 60.0
"""How long an opened secret is used; a project that locks its secrets takes effect after that."""
_LOCKED_WAIT = timedelta(minutes=1)
_FAULT_WAIT = timedelta(minutes=5)

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class EndpointTarget:
    """URL, format and signing keys of an endpoint; `fault` says why it cannot be called."""

    revision: int
    url: str = ""
    form: WebhookFormat = MAILQUEUE_FORMAT
    keys: tuple[tuple[bytes, float], ...] = ()  # each with the loop time until which it signs
    read_at: float = 0.0
    fault: str | None = None
    wait: timedelta | None = None


class EndpointTargets:
    """The targets of endpoints, read again when they change and every CACHE_SECONDS."""

    def __init__(self, read_master: Callable[[], MasterKey | None]) -> None:
        self._read_master = read_master
        self._targets: dict[UUID, EndpointTarget] = {}

    def get(self, webhook_id: UUID) -> EndpointTarget | None:
        """Return the target of an endpoint; None if it is deleted."""
        return self._targets.get(webhook_id)

    async def refresh(self, conn: Conn, revisions: Mapping[UUID, int | None]) -> None:
        """Read the targets of those endpoints whose revision is another, or that are too old."""
        oldest = asyncio.get_running_loop().time() - CACHE_SECONDS
        stale = []
        for webhook_id, revision in revisions.items():
            target = self._targets.get(webhook_id)
            if target is None or target.revision != revision or target.read_at < oldest:
                stale.append(webhook_id)
        if not stale:
            return
        found = {
            keys.id: await self._target(conn, keys)
            for keys in await endpoints_store.read_keys(conn, stale)
        }
        for webhook_id in stale:
            if webhook_id in found:
                self._targets[webhook_id] = found[webhook_id]
            else:
                self._targets.pop(webhook_id, None)

    def forget_old(self) -> None:
        """Forget targets that no claimed delivery needs."""
        oldest = asyncio.get_running_loop().time() - 2 * CACHE_SECONDS
        for webhook_id, target in list(self._targets.items()):
            if target.read_at < oldest:
                del self._targets[webhook_id]

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
        form = FORMATS[keys.format]
        signing = tuple(
            (form.key_of(one), until) for one, until in zip(secrets, ends, strict=False)
        )
        return EndpointTarget(keys.revision, keys.url, form, signing, read_at=now)
