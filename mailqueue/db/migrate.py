"""Migrates a database's schema to the version of this code; one runner at a time."""

import asyncio
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from mailqueue.contract.maintenance import Applied, AppliedMigration
from mailqueue.core.errors import ConfigError, Unavailable
from mailqueue.db import leases
from mailqueue.db.apply import MigrationFailed, SqlFile, apply_alone, apply_together
from mailqueue.db.fetch import Conn, many, run, value
from mailqueue.db.leases import Holder, Lease
from mailqueue.db.migrations import (
    Migration,
    SchemaFiles,
    SchemaObject,
    migration_versions,
    read_schema,
)
from mailqueue.db.pool import connect
from mailqueue.db.roles import become_owner
from mailqueue.db.sql import sql_folder
from mailqueue.db.statements import leases as leases_sql
from mailqueue.db.statements import schema as schema_sql
from mailqueue.db.time_zones import load_time_zones
from mailqueue.settings.environment import DatabaseSettings

ReportProgress = Callable[[str], None]

_APPLICATION = "mailqueue/migrate"
_PAUSE_SECONDS = 0.25
_TURN_SECONDS = 600
_RACE_TRIES = 20


@dataclass(frozen=True, slots=True)
class AppliedObject:
    """A file of functions, views, comments or grants as recorded in the database."""

    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class MigrationStatus:
    """The difference between a database's schema and this code."""

    applied: tuple[AppliedMigration, ...]
    pending: tuple[str, ...]  # file names
    newest_known: int
    objects_are_current: bool

    @property
    def version(self) -> int:
        return self.applied[-1].version if self.applied else 0

    @property
    def is_current(self) -> bool:
        return not self.pending and self.objects_are_current and self.version <= self.newest_known


def _silent(_: str) -> None:
    return


async def migrate(
    settings: DatabaseSettings, progress: ReportProgress = _silent, *, folder: Path | None = None
) -> Applied:
    """Apply what is missing, after waiting for another runner to finish.

    Raises:
        ConfigError: the database is newer than the code, or an applied file was changed.
        MigrationFailed: PostgreSQL refused a file; the message names it and the error.
        Unavailable: no connection, no permission to create roles, or a table stays locked.
        LeaseLost: another runner took over.
    """
    schema = read_schema(folder or sql_folder())
    settings = settings.for_sessions
    if not settings.has_sessions:
        return await _nothing_to_do(settings, schema)
    async with (
        connect(settings, application_name=_APPLICATION) as keeper,
        connect(settings, application_name=_APPLICATION) as conn,
    ):
        for each in (conn, keeper):
            await become_owner(each)
            await each.execute("SET search_path = ''")
        await _prepare(conn, schema)
        lease = await _turn(keeper, conn, progress)
        async with leases.held(keeper, lease):
            return await _apply(conn, schema, progress, lease)


async def status(settings: DatabaseSettings, *, folder: Path | None = None) -> MigrationStatus:
    """Compare the database with the code, without changes."""
    schema = read_schema(folder or sql_folder())
    async with connect(settings, application_name=_APPLICATION) as conn:
        return await status_of(conn, schema)


async def require_current(
    conn: Conn, *, folder: Path | None = None, may_be_newer: bool = False
) -> None:
    """Refuse a database that this code cannot work with.

    A newer schema is refused when a command starts, as it can be upgraded then; running processes
    and those they restart continue with it (`may_be_newer`).

    Raises:
        ConfigError: the schema is missing, older or newer.
    """
    known = migration_versions(folder or sql_folder())
    applied = _versions(await _applied(conn))
    if not may_be_newer:
        _refuse_newer(max(applied, default=0), max(known, default=0))
    if (why := _behind(applied, known)) is not None:
        raise ConfigError(why)


async def find_behind(conn: Conn, known: frozenset[int]) -> str | None:
    """Return a sentence if the database lacks migrations of these numbers; None if it has all."""
    return _behind(_versions(await _applied(conn)), known)


def _behind(applied: Set[int], known: Set[int]) -> str | None:
    if known <= applied:
        return None
    return (
        f"the database schema is at {max(applied, default=0)}, this version of mailqueue needs "
        f"{max(known)}: run `mailqueue migrate`"
    )


async def status_of(conn: Conn, schema: SchemaFiles) -> MigrationStatus:
    """Compare a connected database with a schema."""
    applied = await _applied(conn)
    if applied is None:
        pending = tuple(migration.file for migration in schema.migrations)
        return MigrationStatus((), pending, schema.newest, not schema.objects)
    versions = _versions(applied)
    pending = tuple(m.file for m in schema.migrations if m.version not in versions)
    remembered = set(await many(conn, schema_sql.LIST_APPLIED_OBJECTS, None, AppliedObject))
    wanted = {AppliedObject(o.path, o.sha256) for o in schema.objects}
    return MigrationStatus(applied, pending, schema.newest, remembered == wanted)


async def _nothing_to_do(settings: DatabaseSettings, schema: SchemaFiles) -> Applied:
    """Refuse to migrate through a pooler in transaction mode, which changes sessions."""
    async with connect(settings, application_name=_APPLICATION) as conn:
        found = await status_of(conn, schema)
    _refuse_newer(found.version, found.newest_known)
    if not found.is_current:
        raise ConfigError(
            "migrations cannot run with MAILQUEUE_POOLER=transaction: "
            "set MAILQUEUE_DIRECT_URL to a direct connection and run `mailqueue migrate`"
        )
    return Applied(schema.newest, (), 0)


async def _applied(conn: Conn) -> tuple[AppliedMigration, ...] | None:
    """Return the applied migrations, None without the schema."""
    if not await value(conn, schema_sql.SCHEMA_EXISTS, None, bool):
        return None
    return tuple(await many(conn, schema_sql.LIST_APPLIED_MIGRATIONS, None, AppliedMigration))


def _versions(applied: tuple[AppliedMigration, ...] | None) -> set[int]:
    return {migration.version for migration in applied or ()}


async def _prepare(conn: Conn, schema: SchemaFiles) -> None:
    """Create the schema and the table of leases; two runners may do so at the same time."""
    bootstrap = SqlFile("bootstrap.sql", schema.bootstrap)
    for attempt in range(_RACE_TRIES):
        if await value(conn, leases_sql.LEASE_TABLE_EXISTS, None, bool):
            break
        try:
            await apply_together(conn, [bootstrap], record=_nothing)
        # IF NOT EXISTS does not see objects that another is about to commit.
        except MigrationFailed:
            if attempt == _RACE_TRIES - 1:
                raise
            await asyncio.sleep(_PAUSE_SECONDS)


async def _turn(keeper: Conn, conn: Conn, progress: ReportProgress) -> Lease:
    """Wait for the lease of migrations.

    It is polled: a waiting statement would hold a snapshot, for which CREATE INDEX CONCURRENTLY
    waits.
    """
    for waited in range(int(_TURN_SECONDS / _PAUSE_SECONDS)):
        found = await leases.take(keeper, "migration", worker=conn)
        if not isinstance(found, Holder):
            return found
        if waited == 0:
            progress(f"another migration is running ({found}); waiting for it")
        await asyncio.sleep(_PAUSE_SECONDS)
    raise Unavailable(
        f"another migration has been running for {_TURN_SECONDS} s: try again when it has ended"
    )


async def _apply(
    conn: Conn, schema: SchemaFiles, progress: ReportProgress, lease: Lease
) -> Applied:
    found = await status_of(conn, schema)
    _refuse_newer(found.version, found.newest_known)
    _refuse_changed(found, schema)
    pending = [m for m in schema.migrations if m.file in found.pending]
    if pending:
        progress(f"applying {_listed(pending)}")
    for migration in pending:
        await _apply_migration(conn, migration, lease)
    objects = () if found.is_current else schema.objects
    if objects:
        progress(f"applying {len(objects)} files of functions, views, comments and grants")
        await _apply_objects(conn, objects, lease)
    await _load_time_zones(conn, progress, lease)
    return Applied(schema.newest, tuple(m.file for m in pending), len(objects))


def _listed(migrations: Sequence[Migration]) -> str:
    """Return one or two migrations by name, more by their number, the first and the last."""
    names = [migration.file for migration in migrations]
    if len(names) <= 2:
        return " and ".join(names)
    return f"{len(names)} migrations, {names[0]} to {names[-1]}"


async def _apply_migration(conn: Conn, migration: Migration, lease: Lease) -> None:
    file = SqlFile(migration.file, migration.text)
    fields = {"version": migration.version, "name": migration.name, "sha256": migration.sha256}

    async def record() -> None:
        await leases.call_with_retries(conn, lease)
        await run(conn, schema_sql.RECORD_MIGRATION, fields)

    if migration.in_transaction:
        await apply_together(conn, [file], record=record)
    else:
        await apply_alone(conn, file)
        async with conn.transaction():
            await record()


async def _apply_objects(conn: Conn, objects: tuple[SchemaObject, ...], lease: Lease) -> None:
    fields = {"paths": [o.path for o in objects], "hashes": [o.sha256 for o in objects]}

    async def record() -> None:
        await leases.call_with_retries(conn, lease)
        await run(conn, schema_sql.REPLACE_APPLIED_OBJECTS, fields)

    # Files are applied in order of names, so a function may refer to one created later.
    unchecked = SqlFile("settings", "SET LOCAL check_function_bodies = off")
    files = [SqlFile(each.path, each.text) for each in objects]
    await apply_together(conn, [unchecked, *files], record=record)


async def _load_time_zones(conn: Conn, progress: ReportProgress, lease: Lease) -> None:
    async with conn.transaction():
        if await load_time_zones(conn):
            await leases.call_with_retries(conn, lease)
            progress("loading the rules of time zones")


async def _nothing() -> None:
    return


def _refuse_newer(version: int, newest_known: int) -> None:
    if version > newest_known:
        raise ConfigError(
            f"the database schema is at {version}, this version of mailqueue knows up to "
            f"{newest_known}: upgrade mailqueue"
        )


def _refuse_changed(status: MigrationStatus, schema: SchemaFiles) -> None:
    known = {migration.version: migration for migration in schema.migrations}
    for applied in status.applied:
        file = f"{applied.version:04}_{applied.name}.sql"
        if applied.version not in known:
            raise ConfigError(
                f"{file} was applied here, but this version of mailqueue does not have it"
            )
        if known[applied.version].sha256 != applied.sha256:
            raise ConfigError(
                f"{known[applied.version].file} was changed after it was applied: restore the "
                "file and put the change into a new migration"
            )
    late = [file for file in status.pending if int(file[:4]) < status.version]
    if late:
        raise ConfigError(
            f"{late[0]} has a lower number than applied migrations: give it a higher number"
        )
