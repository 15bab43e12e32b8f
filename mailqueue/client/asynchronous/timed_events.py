"""Timed events."""

from typing import Unpack
from uuid import UUID

from mailqueue.client import answers, timed_events
from mailqueue.client.asynchronous.calls import AsyncCalls
from mailqueue.client.timed_events import TimedEventChange, TimedEventFields, TimedEventFilters


class AsyncTimedEvents(AsyncCalls):
    """Methods for timed events."""

    async def put_timed_event(
        self, kind: str, **fields: Unpack[TimedEventFields]
    ) -> answers.PutTimedEvent:
        """Add an event that is due at `at` or `local_at`, or find the one with its key."""
        return await self._ask(timed_events.put(kind, fields))

    async def timed_event(self, event_id: UUID | str) -> answers.TimedEvent:
        """Return a timed event."""
        return await self._ask(timed_events.get(event_id))

    async def timed_events(
        self, *, limit: int = 50, cursor: str | None = None, **filters: Unpack[TimedEventFilters]
    ) -> answers.Page[answers.TimedEvent]:
        """Return one page of timed events, newest first."""
        return await self._ask(
            timed_events.list_page({**filters, "limit": limit, "cursor": cursor})
        )

    async def change_timed_event(
        self, event_id: UUID | str, *, version: int, **fields: Unpack[TimedEventChange]
    ) -> answers.TimedEvent:
        """Change the time or payload of a pending event that has still the version."""
        return await self._ask(timed_events.change(event_id, version, fields))

    async def cancel_timed_event(
        self, event_id: UUID | str, *, version: int | None = None
    ) -> answers.TimedEvent:
        """Cancel a pending event, whatever its version by default."""
        return await self._ask(timed_events.cancel(event_id, version))
