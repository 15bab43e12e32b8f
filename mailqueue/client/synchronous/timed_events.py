# Made from mailqueue/client/asynchronous, which is to be changed instead:
# python -m tests.client.made --write

"""Timed events."""

from typing import Unpack
from uuid import UUID

from mailqueue.client import answers, timed_events
from mailqueue.client.synchronous.calls import Calls
from mailqueue.client.timed_events import TimedEventChange, TimedEventFields, TimedEventFilters


class TimedEvents(Calls):
    """Methods for timed events."""

    def put_timed_event(
        self, kind: str, **fields: Unpack[TimedEventFields]
    ) -> answers.PutTimedEvent:
        """Add an event that is due at `at` or `local_at`, or find the one with its key."""
        return self._ask(timed_events.put(kind, fields))

    def timed_event(self, event_id: UUID | str) -> answers.TimedEvent:
        """Return a timed event."""
        return self._ask(timed_events.get(event_id))

    def timed_events(
        self, *, limit: int = 50, cursor: str | None = None, **filters: Unpack[TimedEventFilters]
    ) -> answers.Page[answers.TimedEvent]:
        """Return one page of timed events, newest first."""
        return self._ask(timed_events.list_page({**filters, "limit": limit, "cursor": cursor}))

    def change_timed_event(
        self, event_id: UUID | str, *, version: int, **fields: Unpack[TimedEventChange]
    ) -> answers.TimedEvent:
        """Change the time or payload of a pending event that has still the version."""
        return self._ask(timed_events.change(event_id, version, fields))

    def cancel_timed_event(
        self, event_id: UUID | str, *, version: int | None = None
    ) -> answers.TimedEvent:
        """Cancel a pending event, whatever its version by default."""
        return self._ask(timed_events.cancel(event_id, version))
