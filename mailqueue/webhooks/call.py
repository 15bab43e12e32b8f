"""One call of an endpoint: signed, sent, and its response turned into an outcome."""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from mailqueue.ports.webhook import Posted, Poster
from mailqueue.webhooks.model import SettledDelivery
from mailqueue.webhooks.outcomes import asks_for_rest, ending_of, fault_of, kept_of
from mailqueue.webhooks.signing import headers_of, logged


async def call_endpoint(
    poster: Poster,
    url: str,
    *,
    claim: tuple[UUID, int],
    event_id: UUID,
    body: bytes,
    keys: Sequence[bytes],
) -> SettledDelivery:
    """Send a signed POST to an endpoint; return how to settle `claim` (id and claim number)."""
    now = datetime.now(UTC)
    headers = headers_of(str(event_id), body, at=int(now.timestamp()), keys=keys)
    posted: Posted = await poster.post(url, headers, body)
    return SettledDelivery(
        *claim,
        ending_of(posted),
        code=posted.status,
        error=fault_of(posted),
        wait=posted.retry_after,
        rests=asks_for_rest(posted),
        tried_at=now,
        took_ms=posted.took_ms,
        headers=logged(headers),
        response=kept_of(posted),
    )
