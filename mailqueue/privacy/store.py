"""Persons as rows; the only file here that runs SQL."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn, many, maybe, one, run, value
from mailqueue.db.leases import this_process
from mailqueue.privacy.model import Erasure, ProjectName, Table

NIL = UUID(int=0)


class MailStep(NamedTuple):
    """Result of erasing one batch of mails."""

    changed: int
    waiting: int


class KnownPerson(NamedTuple):
    """A row, as JSON, and its table."""

    name: str
    doc: str


async def projects(conn: Conn, project: str | None) -> list[ProjectName]:
    """List all projects, or the one of that name."""
    return await many(conn, "list_projects_of_all", {"project": project}, ProjectName)


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
    return await value(conn, "begin_erasure", params, UUID)


async def find(conn: Conn, erasure_id: UUID) -> Erasure | None:
    """Return how far an erasure is."""
    return await maybe(conn, "find_erasure", {"id": erasure_id}, Erasure)


async def find_last(conn: Conn, project_id: UUID, address_hash: str) -> Erasure | None:
    """Return how far the last erasure of somebody is."""
    params = {"project_id": project_id, "address_hash": address_hash}
    return await maybe(conn, "find_last_erasure", params, Erasure)


async def unfinished(conn: Conn) -> list[UUID]:
    """List erasures that are not at their end."""
    return await many(conn, "list_unfinished_erasures", None, UUID)


async def lease(conn: Conn, erasure_id: UUID, token: UUID, *, seconds: float) -> bool:
    """Take or renew the lease of an erasure; return False while another holds it."""
    params = {
        "id": erasure_id,
        "token": token,
        "holder": this_process(),
        "seconds": seconds,
    }
    return await value(conn, "lease_erasure", params, bool)


async def release(conn: Conn, erasure_id: UUID, token: UUID) -> None:
    """Release the lease of an erasure."""
    await run(conn, "release_erasure", {"id": erasure_id, "token": token})


async def erase_mail(conn: Conn, erasure_id: UUID, *, most: int) -> MailStep:
    """Make some mails anonymous."""
    return await one(conn, "erase_mail", {"id": erasure_id, "most": most}, MailStep)


async def tables(conn: Conn) -> list[Table]:
    """List the tables that may name a person, in the order they are looked at."""
    return await many(conn, "list_privacy_tables", None, Table)


async def erase_mentions(
    conn: Conn, erasure_id: UUID, table: str, *, pattern: str, pages: range
) -> int:
    """Redact a person in some pages of a table; return the number of rows that changed."""
    params = {
        "id": erasure_id,
        "table": table,
        "pattern": pattern,
        "from_page": pages.start,
        "until_page": pages.stop,
    }
    return await value(conn, "erase_mentions", params, int)


async def read_mentions(
    conn: Conn, project_id: UUID, table: str, *, pattern: str, pages: range
) -> list[str]:
    """Return rows of some pages of a table that name a person, as JSON."""
    params = {
        "project_id": project_id,
        "table": table,
        "pattern": pattern,
        "from_page": pages.start,
        "until_page": pages.stop,
    }
    return await many(conn, "read_mentions", params, str)


async def projects_naming(conn: Conn, table: str, *, pattern: str, pages: range) -> list[UUID]:
    """Return the projects of rows that name a person; the nil id for rows of none."""
    params = {
        "table": table,
        "pattern": pattern,
        "from_page": pages.start,
        "until_page": pages.stop,
    }
    return await many(conn, "find_projects_naming", params, UUID)


async def count_mentions(
    conn: Conn, project_id: UUID, table: str, *, pattern: str, pages: range
) -> int:
    """Return how many rows of some pages of a table name a person."""
    params = {
        "project_id": project_id,
        "table": table,
        "pattern": pattern,
        "from_page": pages.start,
        "until_page": pages.stop,
    }
    return await value(conn, "count_mentions", params, int)


async def shared_contents(
    conn: Conn, project_id: UUID, table: str, *, contents: Sequence[int], pages: range
) -> list[int]:
    """Return which contents somebody else was sent too, by mails on some pages."""
    params = {
        "project_id": project_id,
        "table": table,
        "contents": list(contents),
        "from_page": pages.start,
        "until_page": pages.stop,
    }
    return await many(conn, "find_shared_contents", params, int)


async def erase_contents(conn: Conn, erasure_id: UUID, contents: Sequence[int]) -> list[str]:
    """Blank contents; return where files lie that nobody has any more."""
    params = {"id": erasure_id, "contents": list(contents)}
    return await many(conn, "erase_contents", params, str)


async def erase_attachments(conn: Conn, erasure_id: UUID, attachments: Sequence[str]) -> list[str]:
    """Delete files that no mail has any more; return where they lie outside."""
    params = {"id": erasure_id, "attachments": [UUID(each) for each in attachments]}
    return await many(conn, "erase_attachments", params, str)


async def move(
    conn: Conn,
    erasure_id: UUID,
    stage: str,
    place: Mapping[str, Any],
    *,
    table: str = "",
    rows: int = 0,
    by: str,
) -> None:
    """Note how far an erasure is, and how many rows of a table were changed on the way."""
    params = {
        "id": erasure_id,
        "stage": stage,
        "place": Jsonb(place),
        "table": table,
        "rows": rows,
        "by": by,
    }
    await run(conn, "move_erasure", params)


async def find_address(conn: Conn, project_id: UUID, address_hash: str) -> str | None:
    """Find the address of a hash among all that a project knows."""
    params = {"project_id": project_id, "address_hash": address_hash}
    return await maybe(conn, "find_address_of_hash", params, str)


async def has_archives(conn: Conn, project_id: UUID) -> bool:
    """Return whether records of a project lie in files."""
    return await value(conn, "has_archives", {"project_id": project_id}, bool)


async def mail_of(
    conn: Conn, project_id: UUID, spellings: Sequence[str], *, after: UUID, most: int
) -> list[str]:
    """Return mails to a person behind one, as JSON."""
    params = {
        "project_id": project_id,
        "spellings": list(spellings),
        "after": after,
        "most": most,
    }
    return await many(conn, "read_mail_of_person", params, str)


async def hashes(conn: Conn, project_id: UUID, spellings: Sequence[str]) -> list[str]:
    """Return the hashes by which a project knows an address in its spellings."""
    params = {"project_id": project_id, "addresses": list(spellings)}
    return await many(conn, "hash_addresses", params, str)


async def known_by_hash(conn: Conn, project_id: UUID, hashes: Sequence[str]) -> list[KnownPerson]:
    """Return what holds and held for hashes whose address stands no more."""
    params = {"project_id": project_id, "hashes": [bytes.fromhex(each) for each in hashes]}
    return await many(conn, "list_known_of_person", params, KnownPerson)
