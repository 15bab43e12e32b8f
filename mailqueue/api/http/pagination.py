"""Lists that are read page by page: their query, and one page of rows."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import Field

from mailqueue.api.http.schema_base import RequestModel
from mailqueue.contract.page import Page
from mailqueue.core.paging import cursor_of

T = TypeVar("T")
LARGEST_PAGE = 200


class PageQuery(RequestModel):
    """The query of a list; lists with filters extend it."""

    limit: Annotated[int, Field(ge=1, le=LARGEST_PAGE)] = 50
    """Maximum number of items per page."""
    cursor: str | None = None
    """`next_cursor` of the previous page; first page if omitted."""


def page_of(rows: Sequence[T], limit: int, *, key: Callable[[T], Sequence[Any]]) -> Page[T]:
    """Return one page of rows read with `limit + 1`; `key` returns the sort key of a row."""
    shown = list(rows[:limit])
    more = len(rows) > limit
    return Page(shown, cursor_of(*key(shown[-1])) if more else None)
