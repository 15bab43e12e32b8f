"""Pages of lists that are read with a limit and continued behind the key of a row."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from mailqueue.contract.page import Page
from mailqueue.core.paging import cursor_of

Row = TypeVar("Row")


async def read_page(
    read: Callable[[Any, int], Awaitable[list[Row]]],
    limit: int,
    *,
    key: Callable[[Row], Any],
    behind: Any = None,
) -> Page[Row]:
    """Return up to `limit` rows; `read` returns rows behind a key, None for the first ones.

    Whether more follow is looked up by reading one more: `limit` may be all that one read allows.
    """
    rows = await read(behind, limit)
    if len(rows) < limit:
        return Page(rows, None)
    last = key(rows[-1])
    if not await read(last, 1):
        return Page(rows, None)
    return Page(rows, cursor_of(*last) if isinstance(last, tuple) else cursor_of(last))
