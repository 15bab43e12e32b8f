"""Add, find, pause and resume sender accounts, and set their limits."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from mailqueue.core.errors import ConfigError, InvalidField, NotFound, SealBroken
from mailqueue.core.providers import Provider
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.projects.ids import project_id_of
from mailqueue.senders import acceptable
from mailqueue.senders.model import Headroom, LimitsChange, NewSender, SenderAccount, SenderStatus
from mailqueue.senders.store import accounts as accounts_store
from mailqueue.vault import vault
from mailqueue.vault.masterkey import MasterKey
from mailqueue.vault.sealing import SealedCell

PASSWORD_COLUMN = ("sender_accounts", "smtp_password")


async def add(
    conn: Conn, new: NewSender, *, project: str, master: MasterKey | None
) -> SenderAccount:
    """Add an account to a project; its password, if any, is sealed under the master key.

    Raises:
        InvalidField: a field at fault, with the value.
        NotFound: there is no such project.
        Conflict: the project has an account of that name.
        ConfigError: there is a password and no master key.
    """
    ready = acceptable.checked(new)
    async with conn.transaction():
        await _check_time_zone(conn, ready.limits.time_zone)
        project_id = await project_id_of(conn, project)
        account_id = await accounts_store.next_id(conn)
        place = _place(project_id, account_id, ready)
        sealed = await _sealed(conn, place, ready.password, master=master)
        await accounts_store.add(
            conn, ready, account_id=account_id, project_id=project_id, sealed=sealed
        )
        return await find(conn, project, name=ready.name)


async def find(conn: Conn, project: str, *, name: str) -> SenderAccount:
    """Return one account of a project.

    Raises:
        NotFound: there is no such project, or no such account in it.
    """
    account = await accounts_store.find(conn, project, name=name)
    if account is not None:
        return account
    await project_id_of(conn, project)
    raise NotFound("sender account", f"{name} in project {project}")


async def list_all(conn: Conn, *, project: str | None = None) -> list[SenderAccount]:
    """Return accounts by priority; None: those of every project.

    Raises:
        NotFound: there is no such project.
    """
    if project is not None:
        await project_id_of(conn, project)
    return await accounts_store.list_all(conn, project)


async def headroom_by_id(conn: Conn, accounts: list[SenderAccount]) -> dict[int, Headroom]:
    """Return the headroom of each account by its id."""
    rows = await accounts_store.list_headroom(conn, [account.id for account in accounts])
    return {row.sender_account_id: row for row in rows}


async def pause(
    conn: Conn, project: str, *, name: str, reason: str | None, until: datetime | timedelta | None
) -> SenderAccount:
    """Pause an account: until a time, for an interval, or until it is resumed.

    Raises:
        InvalidField: it is suspended; its pause would end as an activation.
    """
    return await _set_status(
        conn, project, name=name, status=SenderStatus.PAUSED, reason=reason, until=until
    )


async def resume(conn: Conn, project: str, *, name: str) -> SenderAccount:
    """Resume a paused or suspended account."""
    return await _set_status(
        conn, project, name=name, status=SenderStatus.ACTIVE, reason=None, until=None
    )


async def lock(conn: Conn, account: SenderAccount) -> None:
    """Lock an account until the transaction ends: for changes that keep a part of what it has.

    Raises:
        NotFound: the account no longer exists.
    """
    if not await accounts_store.lock(conn, account.id):
        raise NotFound("sender account", account.name)


async def set_limits(conn: Conn, project: str, *, name: str, change: LimitsChange) -> SenderAccount:
    """Change some limits of an account and keep the others.

    Raises:
        InvalidField: a limit out of its range; nothing is changed.
    """
    async with conn.transaction():
        account = await _locked(conn, project, name=name)
        limits = acceptable.changed(account.limits, change)
        await _check_time_zone(conn, limits.time_zone)
        await accounts_store.set_limits(conn, account.id, limits=limits)
        return await find(conn, project, name=name)


async def set_fallback(conn: Conn, project: str, *, name: str, is_fallback: bool) -> SenderAccount:
    """Make an account a fallback, used only while no other account may send, or a regular one."""
    async with conn.transaction():
        account = await _locked(conn, project, name=name)
        await accounts_store.set_fallback(conn, account.id, is_fallback=is_fallback)
        return await find(conn, project, name=name)


async def password_of(
    conn: Conn, account: SenderAccount, *, master: MasterKey | None
) -> Secret | None:
    """Return an account's password; None if it has none.

    Raises:
        SealBroken: it cannot be opened, as after its server was changed without a new password.
        ConfigError: there is no master key to open it with.
    """
    if account.smtp_password is None:
        return None
    if master is None:
        raise _no_master_key(f"sender account {account.name} has an encrypted password")
    sealed = account.smtp_password
    place = SealedCell(
        account.project_id,
        *PASSWORD_COLUMN,
        account.id,
        _server_of(account.provider, account.smtp_host, account.api_url, account.provider_settings),
    )
    try:
        opened = await vault.open_sealed(conn, master, place=place, sealed=sealed)
    except SealBroken as exc:
        unbound = replace(place, server="")  # as earlier versions sealed it
        try:
            opened = await vault.open_sealed(conn, master, place=unbound, sealed=sealed)
        except SealBroken:
            raise exc from None
    return Secret(opened.decode())


async def sealed_password(
    conn: Conn, account: SenderAccount, new: NewSender, *, master: MasterKey | None
) -> bytes | None:
    """Return the sealed password of a new account; None if it has none.

    Raises:
        ConfigError: there is no master key to seal it under.
    """
    place = _place(account.project_id, account.id, new)
    return await _sealed(conn, place, new.password, master=master)


def has_same_server(account: SenderAccount, new: NewSender) -> bool:
    """Return whether a password of the account is sent to the same place with `new`."""
    before = (account.smtp_host, account.api_url, account.provider_settings)
    after = (new.host, new.api_url, new.settings)
    return _server_of(account.provider, *before) == _server_of(new.provider, *after)


def _place(project_id: UUID, account_id: int, new: NewSender) -> SealedCell:
    server = _server_of(new.provider, new.host, new.api_url, new.settings)
    return SealedCell(project_id, *PASSWORD_COLUMN, account_id, server)


def _server_of(
    provider: Provider, host: str | None, api_url: str | None, settings: Mapping[str, Any] | None
) -> str:
    """Return the server an account's password is sent to, as `list_sealed_smtp_passwords` does."""
    token_url = (settings or {}).get("token_url")
    return f"{provider} {(host or '').lower()} {api_url or ''} {token_url or ''}"


async def _set_status(
    conn: Conn,
    project: str,
    *,
    name: str,
    status: SenderStatus,
    reason: str | None,
    until: datetime | timedelta | None,
) -> SenderAccount:
    async with conn.transaction():
        account = await _locked(conn, project, name=name)
        if status is SenderStatus.PAUSED and account.status is SenderStatus.SUSPENDED:
            raise InvalidField("name", "the sender account is suspended, and sends nothing already")
        await accounts_store.set_status(conn, account.id, status=status, reason=reason, until=until)
        return await find(conn, project, name=name)


async def _locked(conn: Conn, project: str, *, name: str) -> SenderAccount:
    account = await find(conn, project, name=name)
    await accounts_store.lock(conn, account.id)
    return await find(conn, project, name=name)


async def _sealed(
    conn: Conn, place: SealedCell, password: Secret | None, *, master: MasterKey | None
) -> bytes | None:
    if not password:
        return None
    if master is None:
        raise _no_master_key("passwords are stored encrypted")
    return await vault.seal(conn, master, place=place, plaintext=password.reveal().encode())


async def _check_time_zone(conn: Conn, time_zone: str) -> None:
    if time_zone != "UTC" and not await accounts_store.is_time_zone(conn, time_zone):
        raise InvalidField("time_zone", f"must be a name such as Europe/Berlin, got {time_zone!r}")


def _no_master_key(why: str) -> ConfigError:
    return ConfigError(
        f"{why}, and there is no master key: set MAILQUEUE_MASTER_KEY to 32 random bytes in "
        "base64, or run `mailqueue up`, which makes one in the data folder"
    )
