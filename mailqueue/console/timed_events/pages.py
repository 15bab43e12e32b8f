"""The timed events of a project, one of them, and its cancellation."""

from uuid import UUID

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.acting import ActPage, ActPreview, button_pages
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.frame.rendering import project_path
from mailqueue.contract.automation.timed_events import TimedEvent, TimedEventStatus
from mailqueue.contract.page import Page
from mailqueue.core.paging import key_of
from mailqueue.db.fetch import Conn
from mailqueue.operations.acting import note_act
from mailqueue.timed_events import events
from mailqueue.timed_events.model import TimedEventFilter
from mailqueue.web.rendering import shown_time

PATH = "/console/projects/{project}/timed-events"
EVENT = f"{PATH}/{{timed_event_id}}"
PAGE_ROWS = 50
STATUSES = (("", "any"), *((one.value, one.value.lower()) for one in TimedEventStatus))
DONE = {
    "cancelled": "The event is cancelled: nothing is sent for it.",
    "before": "This was done before, and was not done again.",
}


async def show_events(context: PageContext) -> Response:
    """List timed events, newest first, with filters by status and kind."""
    typed = {name: context.query(name) for name in ("status", "kind")}
    faults = {} if typed["status"] in dict(STATUSES) else {"status": "must be one of those shown"}
    found: Page[TimedEvent] = Page([], None)
    if not faults:
        (before,) = key_of(context.query("cursor") or None, UUID)
        filters = TimedEventFilter(
            kind=typed["kind"] or None,
            status=TimedEventStatus(typed["status"]) if typed["status"] else None,
        )
        async with context.connection() as conn:
            found = await events.list_page(
                conn, context.seen.id, filters=filters, before=before, limit=PAGE_ROWS
            )
    return context.page(
        "timed_events/list.html",
        events=found.data,
        following=found.next_cursor,
        typed=typed,
        faults=faults,
        statuses=STATUSES,
    )


async def show_event(context: PageContext) -> Response:
    """Show one timed event, and what became of it."""
    async with context.connection() as conn:
        found = await _found(context, conn)
    return context.page(
        "timed_events/event.html",
        event=found,
        is_pending=found.status == TimedEventStatus.PENDING,
        done=DONE.get(context.query("done"), ""),
    )


async def preview_cancellation(context: PageContext, conn: Conn) -> ActPreview:
    """Return what is not done once the event is cancelled."""
    found = await _found(context, conn)
    what = "webhook is called" if found.webhook_id else "email is sent"
    return ActPreview(
        f"{found.kind} of {shown_time(found.at)}",
        f"No {what} for it, and there is no way to undo it.",
    )


async def cancel(context: PageContext, conn: Conn) -> str:
    """Cancel the event."""
    found = await _found(context, conn)
    await events.cancel(conn, context.seen.id, found.id, version=found.version, by=context.user.by)
    await note_act(
        conn,
        context.seen.id,
        action="timed_event.cancelled",
        subject=f"timed event {found.id}",
        detail={"kind": found.kind, "at": found.at.isoformat()},
    )
    return project_path(context.seen.name, "timed-events", found.id, done="cancelled")


async def _found(context: PageContext, conn: Conn) -> TimedEvent:
    event_id = context.id_in_path("timed_event_id", "timed event")
    return await events.show(conn, context.seen.id, event_id)


PAGES = (
    ConsolePage("GET", PATH, Right.READ, show_events, menu=MenuEntry("Timed events", "Automatic")),
    ConsolePage("GET", EVENT, Right.READ, show_event),
    *button_pages(
        f"{EVENT}/cancel",
        Right.CONTROL,
        ActPage("Cancel", "Cancel the event", preview_cancellation, cancel, is_destructive=True),
        step_up=True,
    ),
)
