"""Endpoints and requests of providers as rows; the only file here that runs SQL."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

import orjson
from psycopg.types.json import Jsonb

from mailqueue.db import arrays
from mailqueue.db.fetch import Conn, many, maybe, run, value
from mailqueue.inbound.model import Claimed, Endpoint, Kept, Received, Settled
from mailqueue.senders.model import SenderAccount


class EndpointRow(NamedTuple):
    """An endpoint of one account."""

    id: UUID
    provider: str
    sealed: bytes
    created_at: datetime
    updated_at: datetime


async def find_endpoint(conn: Conn, provider: str, token_hash: bytes) -> Endpoint | None:
    """Return the endpoint a URL leads to."""
    params = {"provider": provider, "token_hash": token_hash}
    return await maybe(conn, "find_inbound_endpoint", params, Endpoint)


async def list_endpoints(conn: Conn, account: SenderAccount) -> list[EndpointRow]:
    """List the endpoints of an account."""
    return await many(conn, "list_inbound_endpoints", {"account": account.id}, EndpointRow)


async def put_endpoint(
    conn: Conn,
    endpoint_id: UUID,
    *,
    account: SenderAccount,
    provider: str,
    token_hash: bytes,
    sealed: bytes,
) -> None:
    """Put an endpoint in the place of the one of its account and provider."""
    params = {
        "id": endpoint_id,
        "project_id": account.project_id,
        "account": account.id,
        "provider": provider,
        "token_hash": token_hash,
        "sealed": sealed,
    }
    await run(conn, "put_inbound_endpoint", params)


async def remove_endpoint(conn: Conn, account: SenderAccount, *, provider: str) -> int:
    """Delete an endpoint; return their number."""
    return await run(conn, "remove_inbound_endpoint", {"account": account.id, "provider": provider})


async def note(conn: Conn, account: SenderAccount, *, by: str, action: str, provider: str) -> None:
    """Write down who changed what."""
    params = {
        "project_id": account.project_id,
        "by": by,
        "action": action,
        "subject": f"sender {account.name}",
        "detail": Jsonb({"provider": provider}),
    }
    await run(conn, "note_inbound_change", params)


async def keep(conn: Conn, group: Sequence[Kept]) -> int:
    """Keep requests for a worker to read, twins aside; return how many are new."""
    params = {
        "projects": [one.project_id for one in group],
        "accounts": arrays.integers([one.sender_account_id for one in group]),
        "providers": arrays.texts([one.provider for one in group]),
        "keys": arrays.texts([_text(one.dedupe_key) for one in group]),
        "headers": arrays.texts([orjson.dumps(dict(one.headers)).decode() for one in group]),
        "queries": arrays.texts([orjson.dumps(dict(one.query)).decode() for one in group]),
        "bodies": [one.body for one in group],
        "confirms": arrays.texts([_text(one.confirm_url) for one in group]),
    }
    return await value(conn, "keep_inbound", params, int)


async def claim(conn: Conn, *, limit: int, lease: timedelta) -> list[Claimed]:
    """Take what is due, or was taken by a worker that is gone."""
    return await many(conn, "claim_inbound", {"limit": limit, "lease": lease}, Claimed)


async def hold(conn: Conn, claims: Sequence[Claimed]) -> set[UUID]:
    """Lock what was claimed until the transaction ends; return what is still ours."""
    params = {
        "ids": arrays.uuids([one.id for one in claims]),
        "claims": arrays.integers([one.claim_no for one in claims]),
    }
    return set(await many(conn, "hold_inbound", params, UUID))


async def settle(conn: Conn, group: Sequence[Settled]) -> list[UUID]:
    """Write what became of claimed requests; return those whose claim had moved on."""
    params = {
        "ids": arrays.uuids([one.id for one in group]),
        "claims": arrays.integers([one.claim_no for one in group]),
        "states": arrays.texts([one.state.value for one in group]),
        "waits": arrays.intervals([one.wait for one in group]),
        "waiting": arrays.texts(
            [
                None if one.waiting is None else orjson.dumps([*one.waiting]).decode()
                for one in group
            ]
        ),
        "outcomes": arrays.texts(
            [None if one.outcome is None else orjson.dumps(one.outcome).decode() for one in group]
        ),
        "errors": arrays.texts([_text(one.error) for one in group]),
    }
    return await many(conn, "settle_inbound", params, UUID)


async def list_received(
    conn: Conn,
    *,
    project: str | None,
    provider: str | None,
    status: str | None,
    before: UUID | None,
    limit: int,
) -> list[Received]:
    """List requests of providers, the newest first."""
    params = {
        "project": project,
        "provider": provider,
        "status": status,
        "before": before,
        "limit": limit,
    }
    return await many(conn, "list_inbound", params, Received)


async def find_body(conn: Conn, request_id: UUID) -> bytes | None:
    """Return what a request said, as it came."""
    return await maybe(conn, "find_inbound_body", {"id": request_id}, bytes)


async def retry(conn: Conn, ids: Sequence[UUID], *, by: str) -> int:
    """Have requests be read once more that failed or were of no mail; return their number."""
    return await value(conn, "retry_inbound", {"ids": arrays.uuids(ids), "by": by}, int)


def _text(text: str | None) -> str | None:
    if text is None:
        return None
    return text.replace("\0", "").encode("utf-8", "replace").decode()
