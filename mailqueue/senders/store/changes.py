"""SQL of changes to sender accounts."""

from collections.abc import Sequence

from psycopg.errors import InvalidParameterValue, ObjectInUse
from psycopg.types.json import Jsonb

from mailqueue.core.errors import Conflict, InvalidField
from mailqueue.core.json.writing import write_json
from mailqueue.core.mailboxes import wire_domain
from mailqueue.db.fetch import Conn, run, value
from mailqueue.db.statements.senders import accounts as sql
from mailqueue.senders.model import NewSender, SenderAccount


async def write(conn: Conn, account_id: int, new: NewSender, *, sealed: bytes | None) -> None:
    """Update an account, except its limits."""
    params = {
        "id": account_id,
        "email": new.email,
        "display_name": new.display_name,
        "smtp_host": new.host,
        "smtp_port": new.port,
        "smtp_username": new.username,
        "smtp_password": sealed,
        "smtp_tls": new.tls,
        "is_private_ok": new.is_private_ok,
        "api_url": new.api_url,
        "provider_settings": None
        if new.settings is None
        else write_json(dict(new.settings)).decode(),
        "priority": new.priority,
        "is_fallback": new.is_fallback,
        "notes": new.notes,
    }
    await run(conn, sql.CHANGE_SENDER, params)


async def prefer(conn: Conn, account: SenderAccount) -> bool:
    """Make an account the first choice; return whether that is possible."""
    params = {"project_id": account.project_id, "id": account.id}
    return await value(conn, sql.PREFER_SENDER, params, bool)


async def remove(conn: Conn, account: SenderAccount, *, by: str) -> bool:
    """Delete an account; return whether it existed.

    Raises:
        Conflict: it is in use.
    """
    params = {"project_id": account.project_id, "id": account.id, "by": by}
    try:
        async with conn.transaction():
            return await value(conn, sql.REMOVE_SENDER, params, bool)
    except ObjectInUse as exc:
        raise Conflict(exc.diag.message_primary or "it is in use") from exc


async def route(
    conn: Conn,
    account: SenderAccount,
    *,
    categories: Sequence[str] | None,
    domains: Sequence[str] | None,
    by: str,
) -> None:
    """Route mail of these categories to these domains to the account.

    Raises:
        InvalidField: a category or domain is invalid, in the database's words.
    """
    params = {
        "project_id": account.project_id,
        "id": account.id,
        "categories": None if categories is None else list(categories),
        "domains": None if domains is None else [wire_domain(one) for one in domains],
        "by": by,
    }
    try:
        async with conn.transaction():
            await run(conn, sql.ROUTE_TO_SENDER, params)
    except InvalidParameterValue as exc:
        field = exc.diag.column_name or "routing_rules"
        said = (exc.diag.message_primary or "").removeprefix(f"{field}: ")
        raise InvalidField(field, said) from exc


async def note(
    conn: Conn, account: SenderAccount, *, by: str, action: str, **detail: object
) -> None:
    """Write a change to the audit log."""
    params = {
        "project_id": account.project_id,
        "by": by,
        "action": action,
        "subject": f"sender {account.name}",
        "detail": Jsonb(detail),
    }
    await run(conn, sql.NOTE_SENDER_CHANGE, params)
