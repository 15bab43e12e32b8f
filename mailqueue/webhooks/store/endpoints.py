"""Webhooks as rows."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.statements import webhooks as sql
from mailqueue.webhooks.model import WebhookKeys, WebhookRow


async def find_project(conn: Conn, project: str) -> UUID | None:
    """Return the id of a project; None where there is none of that name."""
    return await fetch.maybe(conn, sql.FIND_WEBHOOK_PROJECT, {"project": project}, UUID)


async def count(conn: Conn, project_id: UUID) -> int:
    """Return how many webhooks a project has, and lock it against others until the commit."""
    return await fetch.value(conn, sql.COUNT_WEBHOOKS, {"project_id": project_id}, int)


async def add(
    conn: Conn,
    webhook_id: UUID,
    *,
    project_id: UUID,
    url: str,
    description: str | None,
    event_types: list[str],
    form: str,
    sealed: bytes,
    public_key: str | None,
) -> None:
    """Insert a webhook; `form` is the name of its format."""
    row = {
        "id": webhook_id,
        "project_id": project_id,
        "url": url,
        "description": description,
        "event_types": event_types,
        "format": form,
        "sealed": sealed,
        "public_key": public_key,
    }
    await fetch.run(conn, sql.ADD_WEBHOOK, row)


async def list_page(
    conn: Conn,
    *,
    project_id: UUID | None,
    webhook_id: UUID | None = None,
    after: UUID | None = None,
    limit: int,
) -> list[WebhookRow]:
    """Return webhooks of a project, or (None) of all, in the order they were added."""
    asked = {"project_id": project_id, "id": webhook_id, "after": after, "limit": limit}
    return await fetch.many(conn, sql.LIST_WEBHOOKS, asked, WebhookRow)


async def lock(conn: Conn, project_id: UUID, webhook_id: UUID) -> bool:
    """Lock a webhook until the transaction ends; False when there is no such webhook."""
    asked = {"project_id": project_id, "id": webhook_id}
    return await fetch.value(conn, sql.LOCK_WEBHOOK, asked, bool)


async def change(
    conn: Conn,
    project_id: UUID,
    webhook_id: UUID,
    *,
    url: str,
    description: str | None,
    event_types: list[str],
    by: str,
) -> bool:
    """Change URL, description and event types; False when there is no such webhook."""
    row = {
        "project_id": project_id,
        "id": webhook_id,
        "url": url,
        "description": description,
        "event_types": event_types,
        "by": by,
    }
    return await fetch.value(conn, sql.CHANGE_WEBHOOK, row, bool)


async def switch(
    conn: Conn, project_id: UUID, webhook_id: UUID, *, is_enabled: bool, by: str
) -> bool:
    """Enable or disable a webhook; False when there is no such webhook."""
    row = {"project_id": project_id, "id": webhook_id, "is_enabled": is_enabled, "by": by}
    return await fetch.value(conn, sql.SWITCH_WEBHOOK, row, bool)


async def remove(conn: Conn, project_id: UUID, webhook_id: UUID, *, by: str) -> bool:
    """Delete a webhook; False when there is no such webhook."""
    row = {"project_id": project_id, "id": webhook_id, "by": by}
    return await fetch.value(conn, sql.REMOVE_WEBHOOK, row, bool)


async def lock_keys(conn: Conn, project_id: UUID, webhook_id: UUID) -> WebhookKeys | None:
    """Return URL and sealed secrets of a webhook, and lock it; None when there is no such one."""
    row = {"project_id": project_id, "id": webhook_id}
    return await fetch.maybe(conn, sql.LOCK_WEBHOOK_KEYS, row, WebhookKeys)


async def read_keys(conn: Conn, ids: list[UUID]) -> list[WebhookKeys]:
    """Return URL and sealed secrets of webhooks; deleted ones are left out."""
    return await fetch.many(conn, sql.READ_WEBHOOK_KEYS, {"ids": ids}, WebhookKeys)


async def replace_secret(
    conn: Conn,
    webhook_id: UUID,
    *,
    sealed: bytes,
    public_key: str | None,
    previous: bytes | None,
    overlap: timedelta,
) -> None:
    """Replace the secret; `previous` None: the one before no longer signs."""
    row = {
        "id": webhook_id,
        "sealed": sealed,
        "public_key": public_key,
        "previous": previous,
        "overlap": overlap,
    }
    await fetch.run(conn, sql.REPLACE_WEBHOOK_SECRET, row)


async def audit(
    conn: Conn, project_id: UUID, action: str, *, subject: UUID, detail: dict[str, Any], by: str
) -> None:
    """Write a change of a webhook to the audit log."""
    row = {
        "project_id": project_id,
        "action": action,
        "subject": str(subject),
        "detail": Jsonb(detail),
        "by": by,
    }
    await fetch.run(conn, sql.AUDIT_WEBHOOK, row)
