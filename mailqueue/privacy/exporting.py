"""Export all that is stored about a person as JSON: mail, records that name them, archives."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from mailqueue.core.json.reading import read_json
from mailqueue.db.fetch import Lend
from mailqueue.maintenance.archive import file_format
from mailqueue.maintenance.archive.manifest import FileFilter, chosen
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.privacy import store
from mailqueue.privacy.model import ProjectName
from mailqueue.privacy.pattern import matcher_of, pattern_of
from mailqueue.privacy.persons import steps

MAILS_TOGETHER = 100
# Exported with the mail they belong to.
_OF_MAIL = {"email_queue", "email_history", "email_recipients", "email_events", "send_logs"}
_PARTS = {"content", "recipients", "events", "attempts", "attachments"}


async def export_person(
    lend: Lend,
    project: ProjectName,
    spellings: Sequence[str],
    *,
    context: MaintenanceContext | None = None,
) -> dict[str, Any]:
    """Return all that a project stores about a person; without archive stores, only what is in
    tables.

    Bytes are in PostgreSQL's escape format: ASCII as it is, others as \\ooo.
    """
    found: dict[str, Any] = {
        "project": project.name,
        "mails": await _mails(lend, project, spellings),
    }
    found["records"] = await _records(lend, project, spellings, known=_contents_in(found["mails"]))
    if context is None:
        async with lend() as conn:
            found["archives"] = "not read" if await store.has_archives(conn, project.id) else {}
    else:
        found["archives"] = await _archived(context, project, spellings)
    return found


async def _mails(
    lend: Lend, project: ProjectName, spellings: Sequence[str]
) -> list[dict[str, Any]]:
    mails, after = list[dict[str, Any]](), store.NIL
    while True:
        async with lend() as conn:
            some = await store.mail_of(
                conn, project.id, spellings, after=after, limit=MAILS_TOGETHER
            )
        mails += [_mail(read_json(each)) for each in some]
        if len(some) < MAILS_TOGETHER:
            return mails
        after = UUID(mails[-1]["id"])


def _mail(found: dict[str, Any]) -> dict[str, Any]:
    """Return a mail without the columns that are null; values within a column stay. Pure."""
    mail = {name: value for name, value in found.items() if value is not None or name in _PARTS}
    for part in ("events", "attempts"):
        mail[part] = found[part] and [_without_nulls(row) for row in found[part]]
    mail["content"] = found["content"] and _without_nulls(found["content"])
    return mail


def _without_nulls(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None}


def _contents_in(mails: Sequence[dict[str, Any]]) -> set[tuple[object, object]]:
    return {(one.get("content_id"), one.get("content_on")) for one in mails}


async def _records(
    lend: Lend,
    project: ProjectName,
    spellings: Sequence[str],
    *,
    known: set[tuple[object, object]],
) -> dict[str, list[dict[str, Any]]]:
    records: dict[str, list[dict[str, Any]]] = {}
    pattern = pattern_of(spellings)
    async with lend() as conn:
        tables = await store.tables(conn)
    for table in tables:
        for pages in steps(table):
            async with lend() as conn:
                some = await store.read_mentions(
                    conn, project.id, table.name, pattern=pattern, pages=pages
                )
            for row in map(read_json, some):
                if not _is_told(table.parent, row, spellings, known):
                    records.setdefault(table.parent, []).append(row)
    async with lend() as conn:
        hashes = await store.hashes(conn, project.id, spellings)
        for one in await store.known_by_hash(conn, project.id, hashes):
            records.setdefault(one.name, []).append(read_json(one.doc))
    return records


def _is_told(
    table: str, row: dict[str, Any], spellings: Sequence[str], known: set[tuple[object, object]]
) -> bool:
    """Return whether a row is already exported with its mail. Pure."""
    if table == "email_contents":
        return (row["id"], row["created_on"]) in known
    address = str(row.get("recipient_email") or row.get("address") or "").lower()
    return table in _OF_MAIL and address in spellings


async def _archived(
    context: MaintenanceContext, project: ProjectName, spellings: Sequence[str]
) -> dict[str, list[dict[str, Any]]]:
    """Return the archived records that name the person, and the contents of their archived mail."""
    matcher = matcher_of(spellings)
    found: dict[str, list[dict[str, Any]]] = {}
    theirs = set[str]()
    # Mails first: they show which contents are theirs.
    mine = [one for one in await chosen(context.conn, FileFilter()) if one.project_id == project.id]
    for archive in sorted(mine, key=lambda one: one.kind != "email_history"):
        async for record in file_format.records(context.stores.at(archive.store), archive):
            is_theirs = archive.kind == "email_contents" and str(record.fields["id"]) in theirs
            if is_theirs or matcher.search(record.line.decode()):
                found.setdefault(archive.kind, []).append(read_json(record.line))
                if archive.kind == "email_history":
                    theirs.add(str(record.fields["content_id"]))
    return found
