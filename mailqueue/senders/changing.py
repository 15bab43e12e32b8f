"""Change, prefer and remove sender accounts, each with its audit record."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.senders import acceptable, accounts
from mailqueue.senders.model import (
    KEEP,
    LimitsChange,
    NewSender,
    SenderAccount,
    SenderStatus,
    Unchanged,
)
from mailqueue.senders.store import accounts as accounts_store
from mailqueue.senders.store import changes as changes_store
from mailqueue.vault.masterkey import MasterKey


@dataclass(frozen=True, slots=True)
class SenderChange:
    """Changes to an account; fields that are not named are kept.

    `way` is a complete new connection with its credentials, at the same provider: a password is
    never used for another server than the one it was given for.
    """

    email: str | Unchanged | None = KEEP
    display_name: str | Unchanged | None = KEEP
    priority: int | Unchanged = KEEP
    is_fallback: bool | Unchanged = KEEP
    notes: str | Unchanged | None = KEEP
    way: NewSender | None = None
    limits: LimitsChange = field(default_factory=LimitsChange)
    is_active: bool | Unchanged = KEEP


async def get(conn: Conn, project: str, *, account_id: int) -> SenderAccount:
    """Return an account of a project by its id.

    Raises:
        NotFound: the project has no account with this id.
    """
    found = await accounts_store.find_by_id(conn, account_id)
    if found is None or found.project != project:
        raise NotFound("sender account", account_id)
    return found


async def named(conn: Conn, project: str, *, name: str) -> SenderAccount:
    """Return an account of a project by its id in the HTTP API, or by its number.

    Raises:
        NotFound: the project has no such account.
    """
    account_id = await accounts_store.find_id(conn, project, id_or_name=name)
    if account_id is None:
        raise NotFound("sender account", name[:100])
    return await get(conn, project, account_id=account_id)


async def add(
    conn: Conn, new: NewSender, *, project: str, master: MasterKey | None, by: str
) -> SenderAccount:
    """Add an account as `accounts.add` does, with an audit record."""
    async with conn.transaction():
        made = await accounts.add(conn, new, project=project, master=master)
        await changes_store.note(conn, made, by=by, action="sender.added", provider=made.provider)
    return made


async def change(
    conn: Conn,
    project: str,
    *,
    account_id: int,
    change: SenderChange,
    master: MasterKey | None,
    by: str,
) -> SenderAccount:
    """Change an account; workers use the new values within a second.

    Raises:
        NotFound: the project has no such account.
        InvalidField: a field at fault, with the value; nothing is changed.
        ConfigError: there is a new password, and no master key.
        Locked: the project has a key of its own and must allow it to be used.
    """
    async with conn.transaction():
        await accounts_store.lock(conn, account_id)
        before = await get(conn, project, account_id=account_id)
        after = acceptable.checked_person(_asked(before, change))
        sealed = before.smtp_password
        if change.way is not None:
            after = acceptable.checked(replace(change.way, **_person(after)))
            sealed = await accounts.sealed_password(conn, before, after, master=master)
        await changes_store.write(conn, before.id, after, sealed=sealed)
        if change.limits != LimitsChange():
            await accounts.set_limits(conn, project, name=before.name, change=change.limits)
        if change.is_active is not KEEP:
            await _set_active(conn, before, is_active=change.is_active, by=by)
        changed = await get(conn, project, account_id=account_id)
        await changes_store.note(
            conn, changed, by=by, action="sender.changed", **_named(before, changed)
        )
    return changed


async def prefer(conn: Conn, project: str, *, account_id: int, by: str) -> SenderAccount:
    """Make an account the first choice for mail that names none, and resume it.

    Raises:
        NotFound: the project has no such account, or it is the trap.
    """
    async with conn.transaction():
        account = await get(conn, project, account_id=account_id)
        if not await changes_store.prefer(conn, account):
            raise NotFound("sender account", account_id)
        await changes_store.note(conn, account, by=by, action="sender.activated")
        return await get(conn, project, account_id=account_id)


async def remove(conn: Conn, project: str, *, account_id: int, by: str) -> None:
    """Delete an account and its credentials; its queued mail is sent by the others.

    Raises:
        NotFound: the project has no such account, or it is the trap.
        Conflict: it is sending mail, or a routing rule has no other account.
    """
    account = await get(conn, project, account_id=account_id)
    if not await changes_store.remove(conn, account, by=by):
        raise NotFound("sender account", account_id)


async def route(
    conn: Conn,
    account: SenderAccount,
    *,
    categories: Sequence[str] | None,
    domains: Sequence[str] | None,
    by: str,
) -> None:
    """Route mail of these categories to these domains to the account.

    None stands for any; with both None the account is removed from the project's rules.

    Raises:
        InvalidField: a category or domain is invalid.
    """
    await changes_store.route(conn, account, categories=categories, domains=domains, by=by)


def _asked(before: SenderAccount, change: SenderChange) -> NewSender:
    return NewSender(
        name=before.name,
        provider=before.provider,
        email=before.email if change.email is KEEP else change.email,
        display_name=(before.display_name if change.display_name is KEEP else change.display_name),
        host=before.smtp_host,
        port=before.smtp_port,
        tls=before.smtp_tls,
        username=before.smtp_username,
        api_url=before.api_url,
        settings=before.provider_settings,
        is_private_ok=before.is_private_ok,
        priority=before.priority if change.priority is KEEP else change.priority,
        is_fallback=before.is_fallback if change.is_fallback is KEEP else change.is_fallback,
        limits=before.limits,
        notes=before.notes if change.notes is KEEP else change.notes,
    )


def _person(new: NewSender) -> dict[str, Any]:
    names = ("name", "provider", "email", "display_name", "priority", "is_fallback", "notes")
    return {name: getattr(new, name) for name in names}


async def _set_active(conn: Conn, account: SenderAccount, *, is_active: bool, by: str) -> None:
    if is_active:
        if account.status is not SenderStatus.ACTIVE:
            await accounts.resume(conn, account.project, name=account.name)
        return
    await accounts.pause(conn, account.project, name=account.name, reason=f"by {by}", until=None)


def _named(before: SenderAccount, after: SenderAccount) -> dict[str, object]:
    """Return the names of the changed fields, and the new values that are not secret."""
    quiet = {"revision", "updated_at", "created_at"}
    fields = [name for name in after.__dataclass_fields__ if name not in quiet]
    names = [name for name in fields if getattr(before, name) != getattr(after, name)]
    return {"fields": sorted(names)}
