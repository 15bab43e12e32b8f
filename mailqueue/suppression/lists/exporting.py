"""Export all suppressions of a project, page by page, in a form that can be imported again."""

import csv
import io
from collections.abc import AsyncIterator, Sequence
from enum import StrEnum

import orjson

from mailqueue.contract.suppression import SuppressionReason
from mailqueue.core.json.writing import write_json
from mailqueue.db.fetch import Lend
from mailqueue.projects.ids import project_id_of
from mailqueue.suppression import store
from mailqueue.suppression.acceptable import category_of
from mailqueue.suppression.lists.formula import harmless
from mailqueue.suppression.model import SuppressionRow

COLUMNS = ("email", "reason", "category", "detail", "created_at", "expires_at", "email_hash")
_PAGE = 2_000

"""Lends a connection for one page, so that a slow reader holds none in between."""


class Format(StrEnum):
    """Format of an exported list."""

    CSV = "csv"
    JSON = "json"


async def export(
    lend: Lend,
    project: str,
    *,
    form: Format,
    reason: SuppressionReason | None = None,
    category: str | None = None,
) -> AsyncIterator[bytes]:
    """Yield the list in pieces, newest first; suppressions added meanwhile are not included.

    Raises:
        NotFound: there is no such project; raised before the first piece.
    """
    before: int | None = None
    wanted = None if category is None else category_of(category)
    async with lend() as conn:
        project_id = await project_id_of(conn, project)
    yield _csv_lines([COLUMNS]) if form is Format.CSV else b"["
    while True:
        async with lend() as conn:
            page = await store.list_page(
                conn,
                project_id,
                before=before,
                limit=_PAGE,
                reason=reason,
                category=wanted,
                having=None,
            )
        if page:
            yield _written(page, form, is_first=before is None)
            before = page[-1].id
        if len(page) < _PAGE:
            break
    if form is Format.JSON:
        yield b"\n]\n"


def _written(page: Sequence[SuppressionRow], form: Format, *, is_first: bool) -> bytes:
    if form is Format.CSV:
        return _csv_lines([[harmless(cell) for cell in _cells(one)] for one in page])
    objects = b",\n".join(write_json(shown(one), option=orjson.OPT_UTC_Z) for one in page)
    return (b"\n" if is_first else b",\n") + objects


def shown(one: SuppressionRow) -> dict[str, object]:
    """Return a suppression as a mapping by column name."""
    return {
        "email": one.address,
        "reason": one.reason,
        "category": one.category,
        "detail": one.detail,
        "created_at": one.created_at,
        "expires_at": one.expires_at,
        "email_hash": one.address_hash,
    }


def _cells(one: SuppressionRow) -> list[str]:
    return [
        one.address or "",
        one.reason.value,
        one.category,
        one.detail or "",
        one.created_at.isoformat(),
        "" if one.expires_at is None else one.expires_at.isoformat(),
        one.address_hash,
    ]


def _csv_lines(rows: Sequence[Sequence[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()
