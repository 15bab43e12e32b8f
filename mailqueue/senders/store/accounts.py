"""SQL of sender accounts."""

from dataclasses import asdict
from datetime import datetime, timedelta
from uuid import UUID

from psycopg.errors import DatetimeFieldOverflow, InvalidParameterValue, UniqueViolation

from mailqueue.core.errors import Conflict, InvalidField
from mailqueue.core.json.writing import write_json
from mailqueue.db.fetch import Conn, many, maybe, one, run, value
from mailqueue.db.statements.senders import accounts as sql
from mailqueue.senders.model import (
    Headroom,
    Limits,
    NewSender,
    ProjectFrom,
    SenderAccount,
    SenderHealth,
    SenderStatus,
)


async def find_id(conn: Conn, project: str, *, id_or_name: str) -> int | None:
    """Return the number of an account by its id in the HTTP API, or by the number itself."""
    return await maybe(conn, sql.FIND_SENDER_ID, {"project": project, "given": id_or_name}, int)


async def next_id(conn: Conn) -> int:
    """Return an id for a new account."""
    return await value(conn, sql.NEXT_SENDER_ID, None, int)


async def add(
    conn: Conn, new: NewSender, *, account_id: int, project_id: UUID, sealed: bytes | None
) -> None:
    """Insert the account.

    Raises:
        Conflict: the project has an account of that name.
    """
    params = _columns(new.limits) | {
        "id": account_id,
        "project_id": project_id,
        "name": new.name,
        "provider": new.provider,
        "email": new.email,
        "display_name": new.display_name,
        "smtp_host": new.host,
        "smtp_port": new.port,
        "smtp_username": new.username,
        "smtp_password": sealed,
        "smtp_tls": new.tls,
        "is_private_ok": new.is_private_ok,
        "priority": new.priority,
        "is_fallback": new.is_fallback,
        "notes": new.notes,
        "api_url": new.api_url,
        "provider_settings": None
        if new.settings is None
        else write_json(dict(new.settings)).decode(),
    }
    try:
        await run(conn, sql.ADD_SENDER, params)
    except UniqueViolation as exc:
        if exc.diag.constraint_name != "sender_accounts_project_id_name_key":
            raise
        raise Conflict(f"sender account {new.name} already exists in this project") from exc


async def find(conn: Conn, project: str, *, name: str) -> SenderAccount | None:
    """Return an account of a project by its name."""
    return await maybe(conn, sql.FIND_SENDER, {"project": project, "name": name}, SenderAccount)


async def find_by_id(conn: Conn, account_id: int) -> SenderAccount | None:
    """Return an account by its id."""
    return await maybe(conn, sql.FIND_SENDER_BY_ID, {"id": account_id}, SenderAccount)


async def list_all(conn: Conn, project: str | None) -> list[SenderAccount]:
    """Return a project's accounts by priority; None: every project's."""
    return await many(conn, sql.LIST_SENDERS, {"project": project}, SenderAccount)


async def list_headroom(conn: Conn, account_ids: list[int]) -> list[Headroom]:
    """Return the headroom of each account."""
    return await many(conn, sql.LIST_HEADROOM, {"account_ids": account_ids}, Headroom)


async def list_health(
    conn: Conn, project: str | None, *, name: str | None = None
) -> list[SenderHealth]:
    """Return the health of the accounts of a project, of all projects, or of one account."""
    return await many(conn, sql.LIST_HEALTH, {"project": project, "name": name}, SenderHealth)


async def lock(conn: Conn, account_id: int) -> bool:
    """Lock an account's row until the transaction ends; False when there is no such account."""
    return await maybe(conn, sql.LOCK_SENDER, {"id": account_id}, int) is not None


async def set_status(
    conn: Conn,
    account_id: int,
    *,
    status: SenderStatus,
    reason: str | None = None,
    until: datetime | timedelta | None = None,
) -> None:
    """Resume an account, or pause it until a time, for an interval or without end.

    Raises:
        InvalidField: the time is more than ten years ahead.
    """
    params = {
        "id": account_id,
        "status": status,
        "reason": reason,
        "until": until if isinstance(until, datetime) else None,
        "wait": until if isinstance(until, timedelta) else None,
    }
    try:
        await run(conn, sql.SET_SENDER_STATUS, params)
    except (InvalidParameterValue, DatetimeFieldOverflow) as exc:
        raise InvalidField("until", "must be within ten years from now") from exc


async def set_limits(conn: Conn, account_id: int, *, limits: Limits) -> None:
    """Set all limits of an account."""
    await run(conn, sql.SET_SENDER_LIMITS, _columns(limits) | {"id": account_id})


async def set_fallback(conn: Conn, account_id: int, *, is_fallback: bool) -> None:
    """Make an account a fallback, used only while no other account may send, or a regular one."""
    await run(conn, sql.SET_SENDER_FALLBACK, {"id": account_id, "is_fallback": is_fallback})


async def is_time_zone(conn: Conn, name: str) -> bool:
    """Return whether the database knows the time zone."""
    return await value(conn, sql.IS_TIME_ZONE, {"time_zone": name}, bool)


async def read_project_from(conn: Conn, project_id: UUID) -> ProjectFrom:
    """Return a project's default From."""
    return await one(conn, sql.READ_PROJECT_FROM, {"project_id": project_id}, ProjectFrom)


async def keep_trap(conn: Conn, *, host: str, port: int) -> None:
    """Create or update the trap account of every project with that address."""
    await run(conn, sql.KEEP_TRAP_ACCOUNTS, {"host": host, "port": port})


async def pause_trap(conn: Conn) -> None:
    """Pause the trap accounts of all projects."""
    await run(conn, sql.PAUSE_TRAP_ACCOUNTS)


def _columns(limits: Limits) -> dict[str, object]:
    # psycopg would send a tuple as a row.
    return asdict(limits) | {"warm_up": None if limits.warm_up is None else list(limits.warm_up)}
