"""Receive the request of a provider: find its endpoint, verify it, and store it as it came."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from uuid import UUID

from mailqueue.core.errors import ConfigError, SealBroken, Unavailable
from mailqueue.db.fetch import Conn
from mailqueue.inbound import endpoints, store
from mailqueue.inbound.intake import RequestIntake
from mailqueue.inbound.model import EndpointSecrets, InboundEndpoint, NewRequest
from mailqueue.ports.inbound import InboundProvider, InboundRequest, NotVerified
from mailqueue.telemetry.log import get_logger
from mailqueue.vault.masterkey import MasterKey

CACHE_SECONDS = 60.0
"""How long opened secrets are reused, in seconds; locking a project takes effect after that."""
MAX_CACHED = 1000
"""Most endpoints whose opened secrets a process holds."""
MAX_HEADER_CHARACTERS = 4096
# Headers that describe the body or its transfer; none is a secret.
_KEPT_HEADERS = ("content-type", "user-agent")
_KEPT_PREFIXES = ("x-amz-sns-", "svix-id", "svix-timestamp", "webhook-id", "webhook-timestamp")
_ENVELOPE = ("sender", "recipient")
_NEVER = (b"", 0.0, EndpointSecrets(""))
"""Stands for an endpoint whose secrets were not opened yet; no sealed text is empty."""
_log = get_logger(__name__)


class InboundAnswer(StrEnum):
    """Result of a request, for the reply to the provider."""

    KEPT = "kept"
    UNKNOWN = "unknown"  # no endpoint has this URL
    REFUSED = "refused"  # it could not be verified
    ASKED = "asked"  # not verified; the reply asks for user and password


@dataclass(frozen=True, slots=True)
class Receiver:
    """Receives the requests of providers for all endpoints."""

    providers: Mapping[str, InboundProvider]
    borrow: Callable[[], AbstractAsyncContextManager[Conn]]
    keeping: RequestIntake
    read_master: Callable[[], MasterKey | None]
    _opened: dict[UUID, tuple[bytes, float, EndpointSecrets]] = field(default_factory=dict)

    async def receive(
        self, provider: InboundProvider, token: str, request: InboundRequest
    ) -> InboundAnswer:
        """Verify a request and store it for a worker; it is durable when this returns.

        Raises:
            Unavailable: the database is unavailable, or a key cannot be fetched now.
            Locked: no access to the project's own key is granted.
        """
        now = datetime.now(UTC)
        async with self.borrow() as conn:
            found = await store.find_endpoint(conn, provider.name, endpoints.hash_of(token))
            if found is None:
                return InboundAnswer.UNKNOWN
            sealed, opened_at, known = self._opened.get(found.id, _NEVER)
            if sealed != found.sealed or now.timestamp() - opened_at >= CACHE_SECONDS:
                known = await self._open(conn, found, now)
        verified = await provider.verify(request, known.secrets, now)
        if isinstance(verified, NotVerified):
            _log.warning(
                "inbound.refused",
                provider=provider.name,
                account=found.sender_account_id,
                why=verified.why,
            )
            return (
                InboundAnswer.ASKED if known.secrets.password is not None else InboundAnswer.REFUSED
            )
        await self.keeping.submit(
            NewRequest(
                provider.name,
                request.body,
                project_id=found.project_id,
                sender_account_id=found.sender_account_id,
                dedupe_key=verified.dedupe_key,
                # The headers needed to read the body, without signatures and credentials.
                headers={
                    name: text[:MAX_HEADER_CHARACTERS].replace("\0", "")
                    for name, text in request.headers.items()
                    if name in _KEPT_HEADERS or name.startswith(_KEPT_PREFIXES)
                },
                query={name: request.query[name] for name in _ENVELOPE if name in request.query},
                confirm_url=verified.confirm,
            )
        )
        return InboundAnswer.KEPT

    async def _open(self, conn: Conn, endpoint: InboundEndpoint, now: datetime) -> EndpointSecrets:
        """Open the secrets of an endpoint, for this request and the next ones."""
        try:
            known = await endpoints.open_secrets(conn, endpoint, master=self.read_master())
        except (ConfigError, SealBroken) as exc:
            _log.error("inbound.not_opened", endpoint=str(endpoint.id), error=str(exc))
            raise Unavailable("the secrets of this webhook cannot be opened here") from exc
        if len(self._opened) >= MAX_CACHED:
            self._opened.clear()
        self._opened[endpoint.id] = (endpoint.sealed, now.timestamp(), known)
        return known
