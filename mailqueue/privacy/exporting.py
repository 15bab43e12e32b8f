"""Export all that is stored about a person as JSON: mail, records that name them, archives."""

import asyncio
import re
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from mailqueue.core.json.reading import read_json
from mailqueue.db.fetch import Conn, Lend
from mailqueue.maintenance.archive import file_format
from mailqueue.maintenance.archive.manifest import FileFilter, chosen
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.model import Archive
from mailqueue.privacy import store
from mailqueue.privacy.model import ProjectName
from mailqueue.privacy.pattern import matcher_of, search_of
from mailqueue.privacy.persons import steps

Records = dict[str, list[dict[str, Any]]]
"""Rows as JSON, by table."""

MAILS_TOGETHER = 100
# Exported with the mail they belong to.
_OF_MAIL = {"email_queue", "email_history", "email_recipients", "email_events", "send_logs"}
_PARTS = {"content", "recipients", "events", "attempts", "attachments"}


async def note_export(conn: Conn, project_id: UUID, spellings: Sequence[str]) -> None:
    """Record in the audit that the actor of the transaction exports a person's data."""
    await store.note_export(conn, project_id, spellings[0])


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
    named: Records = {}
    async for table, some in mentions(lend, project, spellings):
        named.setdefault(table, []).extend(map(read_json, some))
    found = await _of_tables(lend, project, spellings, named)
    if context is None:
        async with lend() as conn:
            found["archives"] = "not read" if await store.has_archives(conn, project.id) else {}
    else:
        found["archives"] = await _archived(context, await _files(context), project, spellings)
    return found


async def mentions(
    lend: Lend,
    project: ProjectName,
    spellings: Sequence[str],
    *,
    only: Collection[str] | None = None,
) -> AsyncIterator[tuple[str, list[str]]]:
    """Yield rows of a project's tables, or of `only` some, that name a person, as JSON, some pages
    at a time, each time with the name of their table.
    """
    pattern = search_of(spellings)
    async with lend() as conn:
        tables = await store.tables(conn)
    for table in tables:
        if only is not None and table.parent not in only:
            continue
        for pages in steps(table):
            async with lend() as conn:
                some = await store.read_mentions(
                    conn, project.id, table.name, pattern=pattern, pages=pages
                )
            if some:
                yield table.parent, some


async def export_from_all(
    lend: Lend, spellings: Sequence[str], *, context: MaintenanceContext
) -> list[dict[str, Any]]:
    """Return what each project stores about a person, as `export_person` does; as the schema's
    owner.

    Tables are searched once for all projects. Rows without a project are returned with each one
    that has records of the person; where none has, with the first.
    """
    async with lend() as conn:
        projects = await store.projects(conn, None)
        tables = await store.tables(conn)
    pattern, named = search_of(spellings), dict[UUID | None, Records]()
    for table in tables:
        for pages in steps(table):
            async with lend() as conn:
                some = await store.read_all_mentions(conn, table.name, pattern=pattern, pages=pages)
            for one in some:
                of_project = named.setdefault(one.project_id, {})
                of_project.setdefault(table.parent, []).append(read_json(one.doc))
    common = named.pop(None, {})
    order = list(dict.fromkeys(table.parent for table in tables))
    files = await _files(context)
    is_only = len(projects) == 1
    known = [one for one in projects if is_only or one.id in named or one.id in files]
    found = []
    for project in known or (projects[:1] if common else []):
        own = named.get(project.id, {})
        theirs = {
            name: [*own.get(name, []), *common.get(name, [])]
            for name in order
            if name in own or name in common
        }
        export = await _of_tables(lend, project, spellings, theirs)
        export["archives"] = await _archived(context, files, project, spellings)
        found.append(export)
    return found


async def _of_tables(
    lend: Lend, project: ProjectName, spellings: Sequence[str], named: Records
) -> dict[str, Any]:
    """Return what tables store about a person; `named` are the rows that name them."""
    theirs = [one async for some in mails(lend, project, spellings) for one in some]
    known = _contents_in(theirs)
    matcher = matcher_of(spellings)
    records: Records = {}
    for table, rows in named.items():
        if others := [row for row in rows if not _is_told(table, row, spellings, known)]:
            records[table] = [_with_own_lines(row, matcher) for row in others]
    async with lend() as conn:
        hashes = await store.hashes(conn, project.id, spellings)
        for one in await store.known_by_hash(conn, project.id, hashes):
            records.setdefault(one.name, []).append(read_json(one.doc))
    return {"project": project.name, "mails": theirs, "records": records}


async def mails(
    lend: Lend, project: ProjectName, spellings: Sequence[str]
) -> AsyncIterator[list[dict[str, Any]]]:
    """Yield the mail to a person with its content, events and attempts, some at a time."""
    after, matcher = store.NIL, matcher_of(spellings)
    while True:
        async with lend() as conn:
            some = await store.mail_of(
                conn, project.id, spellings, after=after, limit=MAILS_TOGETHER
            )
        if not some:
            return
        found = await asyncio.to_thread(_mails_of, some, matcher)
        yield found
        after = UUID(found[-1]["id"])


def _mails_of(documents: Sequence[str], matcher: re.Pattern[str]) -> list[dict[str, Any]]:
    return [_mail(read_json(each), matcher) for each in documents]


def _mail(found: dict[str, Any], matcher: re.Pattern[str]) -> dict[str, Any]:
    """Return a mail without the columns that are null; values within a column stay. Pure."""
    if found["recipients"] and found["attempts"]:  # there are other recipients too
        found["attempts"] = [_with_own_lines(row, matcher) for row in found["attempts"]]
    mail = {name: value for name, value in found.items() if value is not None or name in _PARTS}
    for part in ("events", "attempts"):
        mail[part] = found[part] and [_without_nulls(row) for row in found[part]]
    mail["content"] = found["content"] and _without_nulls(found["content"])
    return mail


def _with_own_lines(row: dict[str, Any], matcher: re.Pattern[str]) -> dict[str, Any]:
    """Return an attempt whose conversation names no other address than the person's. Pure."""
    conversation = row.get("conversation")
    if not isinstance(conversation, dict):
        return row
    lines = [line for line in conversation.get("lines", ()) if _is_own(str(line), matcher)]
    kept = conversation | {"lines": lines}
    if not _is_own(str(kept.get("body", "")), matcher):
        del kept["body"]
    return row | {"conversation": kept}


def _is_own(text: str, matcher: re.Pattern[str]) -> bool:
    return "@" not in matcher.sub("", text)


def _without_nulls(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None}


def _contents_in(mails: Sequence[dict[str, Any]]) -> set[tuple[object, object]]:
    return {(one.get("content_id"), one.get("content_on")) for one in mails}


def _is_told(
    table: str, row: dict[str, Any], spellings: Sequence[str], known: set[tuple[object, object]]
) -> bool:
    """Return whether a row is already exported with its mail. Pure."""
    if table == "email_contents":
        return (row["id"], row["created_on"]) in known
    address = str(row.get("recipient_email") or row.get("address") or "").lower()
    return table in _OF_MAIL and address in spellings


async def _files(context: MaintenanceContext) -> dict[UUID, list[Archive]]:
    """Return the archive files of each project.

    Mails come first: they show which contents are those of the person.
    """
    files = dict[UUID, list[Archive]]()
    for one in await chosen(context.conn, FileFilter()):
        files.setdefault(one.project_id, []).append(one)
    for of_project in files.values():
        of_project.sort(key=lambda one: one.kind != "email_history")
    return files


async def _archived(
    context: MaintenanceContext,
    files: Mapping[UUID, Sequence[Archive]],
    project: ProjectName,
    spellings: Sequence[str],
) -> Records:
    """Return the archived records that name the person, and the contents of their archived mail."""
    matcher = matcher_of(spellings)
    found: Records = {}
    theirs = set[str]()
    for archive in files.get(project.id, []):
        async for record in file_format.records(context.stores.at(archive.store), archive):
            is_theirs = archive.kind == "email_contents" and str(record.fields["id"]) in theirs
            if is_theirs or matcher.search(record.line.decode()):
                row = _with_own_lines(read_json(record.line), matcher)
                found.setdefault(archive.kind, []).append(row)
                if archive.kind == "email_history":
                    theirs.add(str(record.fields["content_id"]))
    return found
