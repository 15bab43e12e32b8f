"""Webhook endpoints of sender accounts, and the requests of their providers, as rows."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.contract.operations import RequestSummary
from mailqueue.core.json.writing import write_json
from mailqueue.core.storable_text import storable
from mailqueue.db import arrays
from mailqueue.db.fetch import Conn, many, maybe, run, value
from mailqueue.db.statements.events import inbound as sql
from mailqueue.inbound.model import InboundEndpoint, NewRequest
from mailqueue.senders.model import SenderAccount


class EndpointRow(NamedTuple):
    """An endpoint of a sender account."""

    id: UUID
    provider: str
    sealed: bytes
    created_at: datetime
    updated_at: datetime


async def find_endpoint(conn: Conn, provider: str, token_hash: bytes) -> InboundEndpoint | None:
    """Return the endpoint whose URL holds the token of that hash."""
    params = {"provider": provider, "token_hash": token_hash}
    return await maybe(conn, sql.FIND_INBOUND_ENDPOINT, params, InboundEndpoint)


async def list_endpoints(conn: Conn, account: SenderAccount) -> list[EndpointRow]:
    """Return the endpoints of an account."""
    return await many(conn, sql.LIST_INBOUND_ENDPOINTS, {"account": account.id}, EndpointRow)


async def put_endpoint(
    conn: Conn,
    endpoint_id: UUID,
    *,
    account: SenderAccount,
    provider: str,
    token_hash: bytes,
    sealed: bytes,
) -> None:
    """Insert the endpoint of an account for a provider, or replace it."""
    params = {
        "id": endpoint_id,
        "project_id": account.project_id,
        "account": account.id,
        "provider": provider,
        "token_hash": token_hash,
        "sealed": sealed,
    }
    await run(conn, sql.PUT_INBOUND_ENDPOINT, params)


async def remove_endpoint(conn: Conn, account: SenderAccount, *, provider: str) -> int:
    """Delete an endpoint; return the number of rows."""
    return await run(
        conn, sql.REMOVE_INBOUND_ENDPOINT, {"account": account.id, "provider": provider}
    )


async def note(conn: Conn, account: SenderAccount, *, by: str, action: str, provider: str) -> None:
    """Write a change of an endpoint to the audit log."""
    params = {
        "project_id": account.project_id,
        "by": by,
        "action": action,
        "subject": f"sender {account.name}",
        "detail": Jsonb({"provider": provider}),
    }
    await run(conn, sql.NOTE_INBOUND_CHANGE, params)


async def keep(conn: Conn, group: Sequence[NewRequest]) -> int:
    """Insert requests for a worker to read, duplicates apart; return how many are new."""
    params = {
        "projects": [one.project_id for one in group],
        "accounts": arrays.integers([one.sender_account_id for one in group]),
        "providers": arrays.texts([one.provider for one in group]),
        "keys": arrays.texts([storable(one.dedupe_key) for one in group]),
        "headers": arrays.texts([write_json(dict(one.headers)).decode() for one in group]),
        "queries": arrays.texts([write_json(dict(one.query)).decode() for one in group]),
        "bodies": [one.body for one in group],
        "confirms": arrays.texts([storable(one.confirm_url) for one in group]),
    }
    return await value(conn, sql.KEEP_INBOUND, params, int)


async def list_received(
    conn: Conn,
    *,
    project: str | None = None,
    provider: str | None = None,
    status: str | None = None,
    before: UUID | None = None,
    limit: int = 50,
) -> list[RequestSummary]:
    """Return the requests of providers, the newest first."""
    params = {
        "project": project,
        "provider": provider,
        "status": status,
        "before": before,
        "limit": limit,
    }
    return await many(conn, sql.LIST_INBOUND, params, RequestSummary)


async def find_body(conn: Conn, request_id: UUID) -> bytes | None:
    """Return the body of a request, byte for byte."""
    return await maybe(conn, sql.FIND_INBOUND_BODY, {"id": request_id}, bytes)


async def retry(conn: Conn, ids: Sequence[UUID], *, by: str) -> int:
    """Have failed and unmatched requests read again; return their number."""
    return await value(conn, sql.RETRY_INBOUND, {"ids": arrays.uuids(ids), "by": by}, int)
