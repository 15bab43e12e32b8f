"""Export contacts of a project or a list, page by page, in a form that can be imported again."""

import csv
import io
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict
from uuid import UUID

import orjson

from mailqueue.contacts import lists, store
from mailqueue.contacts.model import ContactFilter
from mailqueue.contract.contacts import Contact
from mailqueue.core.json.writing import write_json
from mailqueue.db.fetch import Lend
from mailqueue.suppression.lists.exporting import Format
from mailqueue.suppression.lists.formula import harmless

COLUMNS = (
    *("id", "email", "first_name", "last_name", "time_zone", "date_of_birth", "language"),
    *("attributes", "consented_at", "consent_source", "consent_wording"),
    *("created_at", "updated_at"),
)
_PAGE = 2_000


async def export(
    lend: Lend, project_id: UUID, *, form: Format, list_name: str | None = None
) -> AsyncIterator[bytes]:
    """Yield contacts in pieces: newest first, those of a list in the order of their ids.

    Raises:
        NotFound: there is no such list; raised before the first piece.
    """
    list_id = None
    if list_name is not None:
        async with lend() as conn:
            list_id = (await lists.get(conn, project_id, list_name)).id
    yield _csv_lines([COLUMNS]) if form is Format.CSV else b"["
    last: UUID | None = None
    while True:
        async with lend() as conn:
            if list_id is None:
                page = await store.list_page(
                    conn, project_id, filters=ContactFilter(), before=last, limit=_PAGE
                )
            else:
                page = await store.list_members(conn, project_id, list_id, after=last, limit=_PAGE)
        if page:
            yield _written(page, form, is_first=last is None)
            last = page[-1].id
        if len(page) < _PAGE:
            break
    if form is Format.JSON:
        yield b"\n]\n"


def _written(page: Sequence[Contact], form: Format, *, is_first: bool) -> bytes:
    if form is Format.CSV:
        return _csv_lines([[harmless(cell) for cell in _cells(one)] for one in page])
    objects = b",\n".join(write_json(asdict(one), option=orjson.OPT_UTC_Z) for one in page)
    return (b"\n" if is_first else b",\n") + objects


def _cells(one: Contact) -> list[str]:
    values = (getattr(one, name) for name in COLUMNS)
    return [_cell(value) for value in values]


def _cell(value: object) -> str:
    if value is None or value == {}:
        return ""
    if isinstance(value, dict):
        return write_json(value).decode()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _csv_lines(rows: Sequence[Sequence[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()
