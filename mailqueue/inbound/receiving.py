"""Takes in what a provider tells: finds whose URL it is, has it proved, and keeps it as it came."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from uuid import UUID

from mailqueue.core.errors import ConfigError, SealBroken, Unavailable
from mailqueue.db.fetch import Conn
from mailqueue.inbound import endpoints, store
from mailqueue.inbound.keeping import Keeping
from mailqueue.inbound.model import Endpoint, Kept, Knowledge
from mailqueue.ports.inbound import InboundRequest, Provider, Refused
from mailqueue.telemetry.log import get_logger
from mailqueue.vault.masterkey import MasterKey

BELIEVED = 60.0
"""Seconds for which an opened secret is used: a project that locks its secrets is heard then."""
MOST_OPENED = 1000
MOST_HEADER = 4096
# Of headers these tell how to read a body, or by which way it came; none of them is a secret.
_TOLD_BY_HEADERS = ("content-type", "user-agent")
_TOLD_BY_PREFIX = ("x-amz-sns-", "svix-id", "svix-timestamp", "webhook-id", "webhook-timestamp")
_ENVELOPE = ("sender", "recipient")
_log = get_logger(__name__)


class Answer(StrEnum):
    """What a provider hears."""

    KEPT = "kept"
    UNKNOWN = "unknown"  # no such URL
    REFUSED = "refused"  # not proved
    ASKED = "asked"  # likewise, and it should send its name and password


@dataclass(frozen=True, slots=True)
class Reception:
    """Receives for all endpoints."""

    providers: Mapping[str, Provider]
    borrow: Callable[[], AbstractAsyncContextManager[Conn]]
    keeping: Keeping
    read_master: Callable[[], MasterKey | None]
    _opened: dict[UUID, tuple[bytes, float, Knowledge]] = field(default_factory=dict)

    def provider(self, name: str) -> Provider | None:
        """Return who tells under that word."""
        return self.providers.get(name)

    async def receive(self, provider: Provider, token: str, request: InboundRequest) -> Answer:
        """Keep a request for a worker to read, if it is proved; durable when this ends.

        Raises:
            Unavailable: the database is away, or a key cannot be had now.
            Locked: the project's own key has to allow its secrets first.
        """
        now = datetime.now(UTC)
        async with self.borrow() as conn:
            found = await store.find_endpoint(conn, provider.name, endpoints.hash_of(token))
            if found is None:
                return Answer.UNKNOWN
            known = await self._known(conn, found, now)
        proved = await provider.verify(request, known.secrets, now)
        if isinstance(proved, Refused):
            _log.warning(
                "inbound.refused",
                provider=provider.name,
                account=found.sender_account_id,
                why=proved.why,
            )
            return Answer.ASKED if known.secrets.password is not None else Answer.REFUSED
        await self.keeping.submit(
            Kept(
                provider.name,
                request.body,
                project_id=found.project_id,
                sender_account_id=found.sender_account_id,
                dedupe_key=proved.dedupe_key,
                headers=_kept_headers(request),
                query={name: request.query[name] for name in _ENVELOPE if name in request.query},
                confirm_url=proved.confirm,
            )
        )
        return Answer.KEPT

    async def _known(self, conn: Conn, endpoint: Endpoint, now: datetime) -> Knowledge:
        opened = self._opened.get(endpoint.id)
        is_same = opened is not None and opened[0] == endpoint.sealed
        if opened is not None and is_same and now.timestamp() - opened[1] < BELIEVED:
            return opened[2]
        try:
            known = await endpoints.knowledge_of(conn, endpoint, master=self.read_master())
        except (ConfigError, SealBroken) as exc:
            _log.error("inbound.not_opened", endpoint=str(endpoint.id), error=str(exc))
            raise Unavailable("what proves this provider cannot be opened here") from exc
        if len(self._opened) >= MOST_OPENED:
            self._opened.clear()
        self._opened[endpoint.id] = (endpoint.sealed, now.timestamp(), known)
        return known


def _kept_headers(request: InboundRequest) -> dict[str, str]:
    """Return the headers that are needed to read it, and none that prove anything."""
    return {
        name: text[:MOST_HEADER].replace("\0", "")
        for name, text in request.headers.items()
        if name in _TOLD_BY_HEADERS or name.startswith(_TOLD_BY_PREFIX)
    }
