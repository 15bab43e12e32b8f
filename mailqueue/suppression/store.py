"""Suppressions as rows; the only file here that runs SQL."""

import asyncio
from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

from mailqueue.contract.suppression import BadLine, SuppressionOutcome, SuppressionReason
from mailqueue.db.fetch import Conn, many, value
from mailqueue.db.refusals import refusals
from mailqueue.db.statements import suppression as sql
from mailqueue.suppression.model import (
    EndedSuppressionRow,
    ListLine,
    SuppressionRow,
)

_LINES_PER_YIELD = 500


class _Count(NamedTuple):
    outcome: str
    lines: int


class _Taken(NamedTuple):
    line: int
    outcome: str


async def copy_lines(conn: Conn, import_id: UUID, lines: Iterable[ListLine | BadLine]) -> int:
    """Copy lines into a temporary table for `count_taken` and `list_taken` of the same transaction.

    Bad lines are left out. Returns the number of lines copied.
    """
    count = 0
    async with (
        conn.cursor() as cursor,
        cursor.copy(sql.COPY_SUPPRESSION_LINES.query) as copy,
    ):
        for place, line in enumerate(lines, 1):
            if place % _LINES_PER_YIELD == 0:
                await asyncio.sleep(0)  # lets other tasks of this loop run
            if isinstance(line, BadLine):
                continue
            count += 1
            one = line.entry
            until = "infinity" if one.expires_at is None else one.expires_at.isoformat()
            rest = (one.category, one.reason.value, one.detail, until)
            await copy.write_row((import_id, line.number, one.address.key, *rest))
    return count


async def count_taken(
    conn: Conn, project_id: UUID, import_id: UUID, *, by: str
) -> dict[SuppressionOutcome, int]:
    """Suppress the copied lines; return their number by result."""
    params = {"project_id": project_id, "import_id": import_id, "by": by}
    found = await many(conn, sql.TAKE_SUPPRESSION_LINES, params, _Count)
    return {SuppressionOutcome(row.outcome): row.lines for row in found}


async def list_taken(
    conn: Conn, project_id: UUID, import_id: UUID, *, by: str
) -> dict[int, SuppressionOutcome]:
    """Suppress the copied lines; return the result of each by its number."""
    params = {"project_id": project_id, "import_id": import_id, "by": by}
    found = await many(conn, sql.TAKE_SUPPRESSIONS, params, _Taken)
    return {row.line: SuppressionOutcome(row.outcome) for row in found}


async def list_page(
    conn: Conn,
    project_id: UUID,
    *,
    before: int | None,
    limit: int,
    reason: SuppressionReason | None,
    category: str | None,
    having: str | None,
) -> list[SuppressionRow]:
    """Return active suppressions after the given one, newest first."""
    params = {
        "project_id": project_id,
        "before": before,
        "limit": limit,
        "reason": reason,
        "category": category,
        "having": having,
    }
    return await many(conn, sql.LIST_SUPPRESSIONS, params, SuppressionRow)


async def find_all(
    conn: Conn, project_id: UUID, addresses: tuple[str, ...]
) -> list[SuppressionRow]:
    """Return the active suppressions of an address in all its spellings, those of all mail
    first.
    """
    params = {"project_id": project_id, "addresses": list(addresses)}
    return await many(conn, sql.FIND_SUPPRESSIONS, params, SuppressionRow)


async def find_by_hash(conn: Conn, project_id: UUID, address_hash: str) -> list[SuppressionRow]:
    """Return the active suppressions of a hash, whether the address is stored or not."""
    params = {"project_id": project_id, "address_hash": address_hash}
    return await many(conn, sql.LIST_SUPPRESSIONS_BY_HASH, params, SuppressionRow)


async def find_spellings(conn: Conn, project_id: UUID, address_hash: str) -> list[str]:
    """Return the suppressed addresses of a hash; "" where only the hash is stored."""
    params = {"project_id": project_id, "address_hash": address_hash}
    return await many(conn, sql.FIND_SUPPRESSED_SPELLINGS, params, str)


async def list_past(
    conn: Conn, project_id: UUID, addresses: tuple[str, ...], *, address_hash: str
) -> list[EndedSuppressionRow]:
    """Return the ended suppressions of an address or a hash, the latest first."""
    params = {
        "project_id": project_id,
        "addresses": list(addresses),
        "address_hash": address_hash,
    }
    return await many(conn, sql.LIST_PAST_SUPPRESSIONS, params, EndedSuppressionRow)


async def stopping_categories(conn: Conn, project_id: UUID, category: str) -> list[str]:
    """Return the categories whose suppressions stop mail of a category."""
    params = {"project_id": project_id, "category": category}
    return await value(conn, sql.FIND_STOPPING_CATEGORIES, params, list)


async def hashes_of(conn: Conn, project_id: UUID, addresses: list[str]) -> list[str]:
    """Return the hashes under which the project stores addresses, in their order."""
    params = {"project_id": project_id, "addresses": addresses}
    return await many(conn, sql.HASH_ADDRESSES, params, str)


async def remove(
    conn: Conn,
    project_id: UUID,
    addresses: tuple[str, ...],
    *,
    address_hash: str = "",
    category: str | None,
    why: str | None,
    by: str,
) -> int:
    """End the suppressions of an address or a hash, in one category or in all; return their number.

    Raises:
        InvalidField: a reason is required, and none is given.
    """
    params = {
        "project_id": project_id,
        "addresses": list(addresses),
        "address_hash": address_hash,
        "category": category,
        "why": why,
        "by": by,
    }
    with refusals(otherwise="why"):
        async with conn.transaction():
            return await value(conn, sql.REMOVE_SUPPRESSIONS, params, int)
