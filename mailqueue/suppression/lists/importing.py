"""Import lists of addresses: 100,000 lines in one commit; an import can be repeated."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from itertools import chain, islice
from typing import BinaryIO
from uuid import UUID, uuid4

from mailqueue.contract.suppression import BadLine, SuppressionOutcome, SuppressionReason
from mailqueue.db.fetch import Conn
from mailqueue.projects.ids import project_id_of
from mailqueue.suppression import store
from mailqueue.suppression.lists.encoding import encoding_of
from mailqueue.suppression.lists.reading import read_lines
from mailqueue.suppression.model import (
    ImportTally,
    ListLine,
)

LINES_PER_COMMIT = 100_000
MAX_ERRORS = 1_000
"""Most bad lines that are kept for the report; all are counted."""


async def import_list(
    conn: Conn,
    project: str,
    *,
    file: BinaryIO,
    otherwise: SuppressionReason | None = None,
    is_trial: bool = False,
    by: str,
    tally: ImportTally,
    tell: Callable[[BadLine], None] | None = None,
    advance: Callable[[int], None] | None = None,
) -> None:
    """Suppress every valid line of a list, counted in `tally` once it is committed.

    The file is seekable. `tell` is called with each bad line, `advance` with the number of lines of
    each commit. Lines without a reason get `otherwise`; those of erased persons are only counted.
    With `is_trial` everything is counted and rolled back.

    Raises:
        NotFound: there is no such project.
        InvalidField: field `file`; it is not a list. What was committed before stays.
    """
    project_id = await project_id_of(conn, project)

    def refuse(bad: BadLine) -> None:
        tally.bad += 1
        if len(tally.errors) < MAX_ERRORS:
            tally.errors.append(bad)
        if tell is not None:
            tell(bad)

    def skip() -> None:
        tally.erased += 1

    tally.encoding = await asyncio.to_thread(encoding_of, file)  # reads all of it
    read = read_lines(file, tally.encoding, otherwise=otherwise, skip=skip)
    lines = _noted(read, refuse)
    whole: AbstractAsyncContextManager[object] = nullcontext()
    if is_trial:
        whole = conn.transaction(force_rollback=True)
    async with whole:
        while (first := next(lines, None)) is not None:
            some = chain([first], islice(lines, LINES_PER_COMMIT - 1))
            count = await _take(conn, project_id, some, by=by, tally=tally)
            if advance is not None and count:
                advance(count)


async def _take(
    conn: Conn,
    project_id: UUID,
    lines: Iterable[ListLine | BadLine],
    *,
    by: str,
    tally: ImportTally,
) -> int:
    import_id = uuid4()
    async with conn.transaction():
        count = await store.copy_lines(conn, import_id, lines)
        found = await store.count_taken(conn, project_id, import_id, by=by)
    tally.added += found.get(SuppressionOutcome.ADDED, 0)
    tally.renewed += found.get(SuppressionOutcome.RENEWED, 0)
    tally.there_already += found.get(SuppressionOutcome.THERE_ALREADY, 0)
    return count


def _noted(
    lines: Iterator[ListLine | BadLine], refuse: Callable[[BadLine], None]
) -> Iterator[ListLine | BadLine]:
    """Yield all lines, so that bad ones take turns of the event loop as others do."""
    for line in lines:
        if isinstance(line, BadLine):
            refuse(line)
        yield line
