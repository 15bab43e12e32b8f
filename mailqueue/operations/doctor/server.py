"""Checks of the server, the schema and this host."""

import os
from pathlib import Path

from mailqueue.core.errors import ConfigError
from mailqueue.db.migrate import status_of
from mailqueue.db.migrations import read_schema
from mailqueue.db.roles import ROLES
from mailqueue.db.sql import sql_folder
from mailqueue.operations.doctor.context import CheckContext, passed, problem, some
from mailqueue.operations.model import Finding
from mailqueue.operations.store import overview as overview_store

OLDEST_MAJOR, NEWEST_MAJOR = 15, 18


async def server_version(context: CheckContext) -> Finding:
    """Check that PostgreSQL has a supported version."""
    facts = await overview_store.server_facts(context.conn)
    if OLDEST_MAJOR <= facts.version_num // 10_000 <= NEWEST_MAJOR:
        return passed("server", f"the server is PostgreSQL {facts.version}")
    return problem(
        "server",
        f"PostgreSQL {facts.version} is not between {OLDEST_MAJOR} and {NEWEST_MAJOR}",
        fix="move the database to a server of one of these versions",
    )


async def encoding(context: CheckContext) -> Finding:
    """Check that the database encoding is UTF8."""
    facts = await overview_store.server_facts(context.conn)
    if facts.encoding == "UTF8":
        return passed("encoding", "the database is in UTF8")
    return problem(
        "encoding",
        f"the database is in {facts.encoding}, which cannot hold every character",
        fix="dump it and restore it into a database made with ENCODING 'UTF8'",
    )


async def isolation(context: CheckContext) -> Finding:
    """Check that the default isolation level is read committed: claims must see the newest
    commits.
    """
    facts = await overview_store.server_facts(context.conn)
    if facts.isolation == "read committed":
        return passed("isolation", "transactions are read committed by default")
    return problem(
        "isolation",
        f"default_transaction_isolation is {facts.isolation}, with which no email can be claimed",
        fix="ALTER DATABASE … SET default_transaction_isolation = 'read committed'",
    )


async def schema(context: CheckContext) -> Finding:
    """Check that the schema has the version of this code."""
    found = await status_of(context.conn, read_schema(sql_folder()))
    if found.is_current:
        return passed("schema", f"the schema is at version {found.version}, the newest known")
    if found.version > found.newest_known:
        return problem(
            "schema",
            f"the schema is at {found.version}, this version of mailqueue knows up to "
            f"{found.newest_known}",
            fix="upgrade mailqueue",
        )
    return problem(
        "schema",
        f"the schema is at {found.version} of {found.newest_known}"
        if found.pending
        else "functions, views or grants differ from those of this version",
        fix="run `mailqueue migrate`",
    )


async def roles(context: CheckContext) -> Finding:
    """Check that the roles of programs and workers exist."""
    known = await overview_store.known_roles(context.conn, list(ROLES))
    missing = [role for role in ROLES if role not in known]
    if not missing and not await overview_store.may_act_as_api(context.conn):
        return problem(
            "roles",
            "this login may not take the role mailqueue_api: an API with this login would have no "
            "row-level security between projects",
            fix="as a superuser, run GRANT mailqueue_api TO this login",
        )
    if not missing:
        return passed("roles", f"all {len(ROLES)} roles exist")
    return problem(
        "roles",
        f"the server has no role {some(missing, limit=7)}",
        fix="as a superuser, run CREATE ROLE … NOLOGIN for each, then `mailqueue migrate`",
    )


async def data_folder(context: CheckContext) -> Finding:
    """Check that the folder of keys and the embedded server is writable."""
    folder = context.settings.data
    existing = _nearest(folder)
    if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK):
        return passed("data folder", f"{folder} can be written")
    return problem(
        "data folder",
        f"{folder} cannot be written: {existing} is not writable for this user",
        fix=f"make {existing} writable for this user, or set MAILQUEUE_DATA to another folder",
    )


def _nearest(folder: Path) -> Path:
    """Return the folder, or its nearest existing parent."""
    for candidate in (folder, *folder.parents):
        try:
            if candidate.exists():
                return candidate
        except PermissionError:
            continue
    raise ConfigError(f"MAILQUEUE_DATA {folder} has no existing parent folder")
