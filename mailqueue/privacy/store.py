"""SQL of erasures and exports; the only file of this folder that runs SQL."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.db import arrays
from mailqueue.db.fetch import Conn, many, maybe, one, run, value
from mailqueue.db.leases import this_process
from mailqueue.db.statements import privacy as privacy_sql
from mailqueue.db.statements import suppression as suppression_sql
from mailqueue.privacy.model import Erasure, ProjectName, Table, TablePart

NIL = UUID(int=0)


class MailStep(NamedTuple):
    """Result of erasing one batch of mails."""

    changed: int
    waiting: int


class MentionStep(NamedTuple):
    """Result of redacting some pages of tables; `shared` are contents that others received too."""

    changed: int
    shared: list[int]


class KnownPerson(NamedTuple):
    """A row as JSON, and the name of its table."""

    name: str
    doc: str


class Mention(NamedTuple):
    """A row that names a person, as JSON; `project_id` is None for rows without a project."""

    project_id: UUID | None
    doc: str


async def projects(conn: Conn, project: str | None) -> list[ProjectName]:
    """Return all projects, or the one of that name."""
    return await many(conn, privacy_sql.LIST_PROJECTS_OF_ALL, {"project": project}, ProjectName)


async def begin(
    conn: Conn, project_id: UUID, spellings: Sequence[str], *, suppress: bool, by: str
) -> UUID:
    """Insert an erasure, or return the one that is running."""
    params = {
        "project_id": project_id,
        "spellings": list(spellings),
        "suppress": suppress,
        "by": by,
    }
    return await value(conn, privacy_sql.BEGIN_ERASURE, params, UUID)


async def find(conn: Conn, erasure_id: UUID) -> Erasure | None:
    """Return an erasure, None where there is none of that id."""
    return await maybe(conn, privacy_sql.FIND_ERASURE, {"id": erasure_id}, Erasure)


async def find_last(conn: Conn, project_id: UUID, address_hash: str) -> Erasure | None:
    """Return the last erasure of an address hash."""
    params = {"project_id": project_id, "address_hash": address_hash}
    return await maybe(conn, privacy_sql.FIND_LAST_ERASURE, params, Erasure)


async def unfinished(conn: Conn) -> list[UUID]:
    """Return the ids of erasures that are not done."""
    return await many(conn, privacy_sql.LIST_UNFINISHED_ERASURES, None, UUID)


async def lease(conn: Conn, erasure_id: UUID, token: UUID, *, seconds: float) -> bool:
    """Take or renew the lease of an erasure; return False while another process holds it."""
    params = {
        "id": erasure_id,
        "token": token,
        "holder": this_process(),
        "seconds": seconds,
    }
    return await value(conn, privacy_sql.LEASE_ERASURE, params, bool)


async def release(conn: Conn, erasure_id: UUID, token: UUID) -> None:
    """Release the lease of an erasure."""
    await run(conn, privacy_sql.RELEASE_ERASURE, {"id": erasure_id, "token": token})


async def erase_mail(conn: Conn, erasure_id: UUID, *, limit: int) -> MailStep:
    """Erase the personal data of up to `limit` mails."""
    return await one(conn, privacy_sql.ERASE_MAIL, {"id": erasure_id, "most": limit}, MailStep)


async def erase_keys(conn: Conn, erasure_id: UUID, keys: Sequence[str]) -> None:
    """Delete idempotency keys of archived mail that contain the address, and the fingerprints of
    others.
    """
    await run(
        conn, privacy_sql.ERASE_IDEMPOTENCY_KEYS, {"id": erasure_id, "keys": arrays.texts(keys)}
    )


async def tables(conn: Conn) -> list[Table]:
    """Return the tables that may name a person, in the order they are searched."""
    return await many(conn, privacy_sql.LIST_PRIVACY_TABLES, None, Table)


async def erase_mentions(
    conn: Conn,
    erasure_id: UUID,
    parts: Sequence[TablePart],
    *,
    pattern: str,
    contents: Sequence[int],
) -> MentionStep:
    """Redact a person in some pages of tables; `contents` are those only they received, so far."""
    params = {
        "id": erasure_id,
        "tables": arrays.texts([part.table for part in parts]),
        "pattern": pattern,
        "from_pages": arrays.integers([part.pages.start for part in parts]),
        "until_pages": arrays.integers([part.pages.stop for part in parts]),
        "contents": arrays.integers(contents),
    }
    return await one(conn, privacy_sql.ERASE_MENTIONS, params, MentionStep)


async def read_mentions(
    conn: Conn, project_id: UUID, table: str, *, pattern: str, pages: range
) -> list[str]:
    """Return the rows of some pages of a table that name a person, as JSON."""
    params = {
        "project_id": project_id,
        "table": table,
        "pattern": pattern,
        "from_page": pages.start,
        "until_page": pages.stop,
    }
    return await many(conn, privacy_sql.READ_MENTIONS, params, str)


async def read_all_mentions(conn: Conn, table: str, *, pattern: str, pages: range) -> list[Mention]:
    """Return the rows of some pages of a table that name a person, of all projects."""
    params = {
        "table": table,
        "pattern": pattern,
        "from_page": pages.start,
        "until_page": pages.stop,
    }
    return await many(conn, privacy_sql.READ_ALL_MENTIONS, params, Mention)


async def projects_naming(conn: Conn, table: str, *, pattern: str, pages: range) -> list[UUID]:
    """Return the projects of rows that name a person; the nil id for rows without a project."""
    params = {
        "table": table,
        "pattern": pattern,
        "from_page": pages.start,
        "until_page": pages.stop,
    }
    return await many(conn, privacy_sql.FIND_PROJECTS_NAMING, params, UUID)


async def count_mentions(
    conn: Conn, project_id: UUID, table: str, *, pattern: str, pages: range
) -> int:
    """Return the number of rows that name a person, in a range of pages of a table."""
    params = {
        "project_id": project_id,
        "table": table,
        "pattern": pattern,
        "from_page": pages.start,
        "until_page": pages.stop,
    }
    return await value(conn, privacy_sql.COUNT_MENTIONS, params, int)


async def erase_contents(conn: Conn, erasure_id: UUID, contents: Sequence[int]) -> list[str]:
    """Blank contents; return the locations of files that no mail refers to any more."""
    params = {"id": erasure_id, "contents": list(contents)}
    return await many(conn, privacy_sql.ERASE_CONTENTS, params, str)


async def erase_attachments(conn: Conn, erasure_id: UUID, attachments: Sequence[str]) -> list[str]:
    """Delete attachments that no mail refers to; return the locations of their files."""
    params = {"id": erasure_id, "attachments": [UUID(each) for each in attachments]}
    return await many(conn, privacy_sql.ERASE_ATTACHMENTS, params, str)


async def move(
    conn: Conn,
    erasure_id: UUID,
    stage: str,
    place: Mapping[str, Any] | None,
    *,
    table: str = "",
    rows: int = 0,
    by: str,
) -> None:
    """Store the progress of an erasure, and the number of rows of a table that it changed.

    `place` None is unchanged.
    """
    params = {
        "id": erasure_id,
        "stage": stage,
        "place": None if place is None else Jsonb(place),
        "table": table,
        "rows": rows,
        "by": by,
    }
    await run(conn, privacy_sql.MOVE_ERASURE, params)


async def find_address(conn: Conn, project_id: UUID, address_hash: str) -> str | None:
    """Return the address of a hash, searched in all records of a project."""
    params = {"project_id": project_id, "address_hash": address_hash}
    return await maybe(conn, privacy_sql.FIND_ADDRESS_OF_HASH, params, str)


async def has_archives(conn: Conn, project_id: UUID) -> bool:
    """Return whether a project has records in archive files."""
    return await value(conn, privacy_sql.HAS_ARCHIVES, {"project_id": project_id}, bool)


async def mail_of(
    conn: Conn, project_id: UUID, spellings: Sequence[str], *, after: UUID, limit: int
) -> list[str]:
    """Return up to `limit` mails to a person after the given one, as JSON; fewer where their texts
    are large, and none where there is no more.
    """
    params = {
        "project_id": project_id,
        "spellings": list(spellings),
        "after": after,
        "most": limit,
    }
    return await many(conn, privacy_sql.READ_MAIL_OF_PERSON, params, str)


async def hashes(conn: Conn, project_id: UUID, spellings: Sequence[str]) -> list[str]:
    """Return the hashes under which a project stores the spellings of an address."""
    params = {"project_id": project_id, "addresses": list(spellings)}
    return await many(conn, suppression_sql.HASH_ADDRESSES, params, str)


async def known_by_hash(conn: Conn, project_id: UUID, hashes: Sequence[str]) -> list[KnownPerson]:
    """Return current and ended records stored under a hash, without the address."""
    params = {"project_id": project_id, "hashes": [bytes.fromhex(each) for each in hashes]}
    return await many(conn, privacy_sql.LIST_KNOWN_OF_PERSON, params, KnownPerson)


async def note_export(conn: Conn, project_id: UUID, address: str) -> None:
    """Insert an audit event with the hash of the address."""
    await run(conn, privacy_sql.NOTE_EXPORT, {"project_id": project_id, "address": address})
