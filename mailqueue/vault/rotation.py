"""Rotates keys during operation: values under old keys are moved to new ones.

Each step is one statement that has no effect when repeated: an interrupted rotation continues when
it is started again.
"""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import NamedTuple
from uuid import UUID

from mailqueue.contract.maintenance import Rotated
from mailqueue.core.errors import ConfigError, NotFound, SealBroken
from mailqueue.db.fetch import Conn
from mailqueue.db.sql import ManyRows, NoRows
from mailqueue.db.statements import vault as vault_sql
from mailqueue.db.statements.events import inbound as inbound_sql
from mailqueue.db.statements.watch import watch as watch_sql
from mailqueue.vault import store, vault
from mailqueue.vault.audit_keys import rotate_audit_keys
from mailqueue.vault.masterkey import MasterKey
from mailqueue.vault.model import SealedRow, WrappedKey
from mailqueue.vault.sealing import DataKey, SealedCell, open_with, seal_with
from mailqueue.vault.users import reseal_second_factors
from mailqueue.vault.wrapping import unwrap, wrap, wrap_grant


class SealedColumn(NamedTuple):
    """A column with sealed values, and the statements that read and replace them."""

    table: str
    column: str
    listed: ManyRows
    replaced: NoRows


# Every column with sealed values; a test compares the list with the schema.
SEALED_COLUMNS = (
    SealedColumn(
        "sender_accounts",
        "smtp_password",
        vault_sql.LIST_SEALED_SMTP_PASSWORDS,
        vault_sql.REPLACE_SEALED_SMTP_PASSWORD,
    ),
    SealedColumn(
        "dkim_keys",
        "private_key",
        vault_sql.LIST_SEALED_DKIM_KEYS,
        vault_sql.REPLACE_SEALED_DKIM_KEY,
    ),
    SealedColumn(
        "custom_smtp_servers",
        "sealed",
        vault_sql.LIST_SEALED_CUSTOM_SMTP_SERVERS,
        vault_sql.REPLACE_SEALED_CUSTOM_SMTP_SERVER,
    ),
    SealedColumn(
        "inbound_endpoints",
        "sealed",
        inbound_sql.LIST_SEALED_INBOUND_ENDPOINTS,
        inbound_sql.REPLACE_SEALED_INBOUND_ENDPOINT,
    ),
    SealedColumn(
        "tracking_keys",
        "sealed",
        vault_sql.LIST_SEALED_TRACKING_KEYS,
        vault_sql.REPLACE_SEALED_TRACKING_KEY,
    ),
    SealedColumn(
        "webhooks",
        "sealed_secret",
        vault_sql.LIST_SEALED_WEBHOOK_SECRETS,
        vault_sql.REPLACE_SEALED_WEBHOOK_SECRET,
    ),
    SealedColumn(
        "webhooks",
        "sealed_secret_previous",
        vault_sql.LIST_SEALED_PREVIOUS_WEBHOOK_SECRETS,
        vault_sql.REPLACE_SEALED_PREVIOUS_WEBHOOK_SECRET,
    ),
    SealedColumn(
        "mailboxes",
        "sealed_password",
        watch_sql.LIST_SEALED_MAILBOX_PASSWORDS,
        watch_sql.REPLACE_SEALED_MAILBOX_PASSWORD,
    ),
    SealedColumn(
        "notification_channels",
        "sealed_token",
        watch_sql.LIST_SEALED_CHANNEL_TOKENS,
        watch_sql.REPLACE_SEALED_CHANNEL_TOKEN,
    ),
    SealedColumn(
        "notification_channels",
        "sealed_signing_secret",
        watch_sql.LIST_SEALED_SIGNING_SECRETS,
        watch_sql.REPLACE_SEALED_SIGNING_SECRET,
    ),
)


async def rotate(
    conn: Conn,
    master: MasterKey,
    *,
    project: str | None = None,
    is_forced: bool = False,
    by: str,
) -> Rotated:
    """Move everything to the current master key; `conn` must not be in a transaction.

    Data keys created under an earlier master key are replaced, and their values sealed again; with
    `is_forced` all data keys are, or that of `project`. Projects with their own key keep their data
    key.

    Raises:
        ConfigError: a key is wrapped by a master key that is not loaded; the message names it.
        NotFound: the project does not exist.
    """
    if project is not None and await store.find_project(conn, project) is None:
        raise NotFound("project", project)
    await vault.check_master_key(conn, master)
    rewrapped = await _rewrap_keys(conn, master) + await _rewrap_grants(conn, master)
    rewrapped += await rotate_audit_keys(conn, master)
    renewed = 0
    for project_id in await store.list_projects_to_renew(
        conn, master.id, project=project, is_forced=is_forced
    ):
        await renew(conn, master, project_id)
        renewed += 1
    damaged = list[str]()
    count = await reseal_second_factors(conn, master, damaged)
    for row in await store.list_keys_to_clear(conn):
        count += await _clear(conn, master, row, damaged)
    done = Rotated(rewrapped, renewed, count, tuple(damaged))
    if any((rewrapped, renewed, count)):
        counts = {"rewrapped": rewrapped, "renewed": renewed, "resealed": count}
        await store.note(
            conn, None, by=by, action="vault.rotated", subject=f"master key {master.id}", **counts
        )
    return done


async def renew(conn: Conn, master: MasterKey, project_id: UUID) -> None:
    """Create a data key for a project; secrets stored from now on are sealed with it."""
    async with conn.transaction():
        await store.retire_active_data_key(conn, project_id)
        await store.add_data_key(conn, vault.new_data_key(master, project_id))


async def _rewrap_keys(conn: Conn, master: MasterKey) -> int:
    count = 0
    while rows := await store.list_keys_to_rewrap(conn, master.id):
        for row in rows:
            key = _platform_unwrapped(master, row)
            new = replace(row, master_key_id=master.id, wrapped=wrap(master, key))
            count += await store.rewrap(conn, new, old=row.wrapped)
    return count


async def _rewrap_grants(conn: Conn, master: MasterKey) -> int:
    count = 0
    while grants := await store.list_grants_to_rewrap(conn, master.id):
        for grant in grants:
            key = vault.granted_data_key(master, grant)
            if key is None:
                raise _damaged(grant.data_key_id)
            wrapped = wrap_grant(master, key, expires_at=grant.expires_at)
            new = replace(grant, master_key_id=master.id, wrapped=wrapped)
            count += await store.rewrap_grant(conn, new, old=grant.wrapped)
    return count


async def _clear(conn: Conn, master: MasterKey, row: WrappedKey, damaged: list[str]) -> int:
    """Seal the values of a replaced data key again; report those that cannot be opened."""
    old = _platform_unwrapped(master, row)
    count, before = 0, len(damaged)
    for column in SEALED_COLUMNS:
        async for sealed in _sealed_with(conn, column, row):
            try:
                async with conn.transaction():  # the new key stays active until this commits
                    new = await vault.active_data_key(conn, master, row.project_id)
                    again = _resealed(old, new, sealed, column)
                    count += await store.replace_sealed(conn, column.replaced, sealed, sealed=again)
            except SealBroken as exc:
                damaged.append(str(exc))
    if len(damaged) == before:
        await store.note_key_cleared(conn, row.id)
    return count


async def _sealed_with(
    conn: Conn, column: SealedColumn, row: WrappedKey
) -> AsyncIterator[SealedRow]:
    after: str | None = None
    while found := await store.list_sealed(conn, column.listed, row, after=after):
        for one in found:
            yield one
        after = found[-1].row_id


def _resealed(old: DataKey, new: DataKey, row: SealedRow, column: SealedColumn) -> bytes:
    place = SealedCell(old.project_id, column.table, column.column, row.row_id, row.server)
    try:
        opened = open_with(old, place, row.sealed)
    except SealBroken:
        if not place.server:
            raise
        opened = open_with(old, replace(place, server=""), row.sealed)  # of an earlier version
    return seal_with(new, place, opened)


def _platform_unwrapped(master: MasterKey, row: WrappedKey) -> DataKey:
    by = master.named(row.master_key_id)
    key = None
    if by is not None:
        key = unwrap(by, row.wrapped, project_id=row.project_id, data_key_id=row.id)
    if key is None:
        raise _damaged(row.id)
    return key


def _damaged(data_key_id: UUID) -> ConfigError:
    return ConfigError(
        f"data key {data_key_id} cannot be opened: it was changed, or its master key is not loaded"
    )
