"""Reads what the rows of one claim need; a row that cannot be read fails alone."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Generic

from mailqueue.core.outcome import Defer, Outcome, Retry
from mailqueue.core.queues.model import QueueSpec
from mailqueue.db.link import Link
from mailqueue.queue.failures import concerns_one_row, failure_of
from mailqueue.queue.handler import Handler
from mailqueue.queue.in_progress import InProgress
from mailqueue.queue.rows import Row


class Loader(Generic[Row]):
    """Calls the `load` of a handler."""

    def __init__(
        self,
        link: Link,
        spec: QueueSpec,
        handler: Handler[Row, Any],
        in_progress: InProgress,
        settle: Callable[[Row, Outcome], None],
    ) -> None:
        """Prepare; `settle` is called with rows that cannot be loaded."""
        self._link = link
        self._spec = spec
        self._handler = handler
        self._in_progress = in_progress
        self._settle = settle

    async def load(self, rows: Sequence[Row]) -> list[Row]:
        """Return the rows with what they need; the others are settled with the reason.

        Raises:
            Exception: the server refuses to read anything; all rows return to the queue.
        """
        # A process that dies meanwhile was stopped by one of them.
        begin = partial(self._in_progress.begin, self._spec.name, is_timed=False)
        slots = [begin(row.id, row.claim_no) for row in rows]
        try:
            loaded = list(await self._link.call(partial(self._handler.load, rows=rows)))
        except Exception as exc:
            if not concerns_one_row(exc):
                for row in rows:
                    self._settle(row, Defer())
                raise
            if len(rows) == 1:
                self._settle(rows[0], failure_of(self._spec, rows[0], exc))
                return []
            return [found for row in rows for found in await self.load([row])]
        finally:
            for slot in slots:
                self._in_progress.end(slot)
        found = {row.id for row in loaded}
        for row in rows:
            if row.id not in found:
                self._settle(row, Retry("rows that it refers to were not found"))
        return loaded
