"""SQL of suppressed addresses in the lists of compatible APIs."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from mailqueue.api.compat.suppressed.model import (
    AddressFilter,
    SuppressedAddress,
    SuppressedInCategory,
    SuppressedList,
)
from mailqueue.db.fetch import Conn, many
from mailqueue.db.statements.emails import suppressed as sql


async def list_page(
    conn: Conn,
    project_id: UUID,
    wanted: SuppressedList,
    chosen: AddressFilter,
    *,
    spellings: Sequence[str] | None,
) -> list[SuppressedAddress]:
    """Return addresses of a list, newest first; `spellings` are those of the filter's address."""
    asked = {
        **_params(project_id, wanted),
        "addresses": None if spellings is None else list(spellings),
        "ids": None if chosen.ids is None else list(chosen.ids),
        "prefix": chosen.prefix,
        "since": chosen.since,
        "until": chosen.until,
        "older_than": chosen.older_than,
        "limit": chosen.limit,
        "offset": chosen.offset,
    }
    return await many(conn, sql.LIST_SUPPRESSED, asked, SuppressedAddress)


async def list_in_categories(
    conn: Conn,
    project_id: UUID,
    wanted: SuppressedList,
    *,
    older_than: int | None,
    limit: int,
) -> list[SuppressedInCategory]:
    """Return suppressions in the categories of a list, newest first."""
    asked = {**_params(project_id, wanted), "older_than": older_than, "limit": limit}
    return await many(conn, sql.LIST_SUPPRESSED_IN_CATEGORIES, asked, SuppressedInCategory)


async def list_newer_ids(
    conn: Conn,
    project_id: UUID,
    wanted: SuppressedList,
    *,
    newer_than: int,
    prefix: str | None,
    limit: int,
) -> list[int]:
    """Return the ids of the next newer addresses after one, oldest first."""
    asked = {
        **_params(project_id, wanted),
        "newer_than": newer_than,
        "prefix": prefix,
        "limit": limit,
    }
    return await many(conn, sql.LIST_NEWER_SUPPRESSED_IDS, asked, int)


def _params(project_id: UUID, wanted: SuppressedList) -> dict[str, Any]:
    return {
        "project_id": project_id,
        "reasons": [reason.value for reason in wanted.reasons],
        "categories": None if wanted.categories is None else list(wanted.categories),
    }
