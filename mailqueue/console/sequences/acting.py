"""Pages that pause and resume a sequence, and that end an enrollment."""

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.acting import ActPage, ActPreview, button_pages
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.rendering import project_path
from mailqueue.console.sequences.pages import ENROLLMENT, SEQUENCE, find_enrollment, name_of
from mailqueue.db.fetch import Conn
from mailqueue.operations.acting import note_act
from mailqueue.sequences import definitions, enrollments
from mailqueue.web.rendering import counted


async def preview_pause(context: PageContext, conn: Conn) -> ActPreview:
    """Return how many contacts wait while a sequence is paused."""
    waiting = await _waiting(context, conn)
    return ActPreview(
        name_of(context),
        f"No step is done until it is resumed: {waiting} in it. Contacts are enrolled as before.",
    )


async def pause(context: PageContext, conn: Conn) -> str:
    """Pause the sequence."""
    return await _paused(context, conn, is_paused=True)


async def preview_resumption(context: PageContext, conn: Conn) -> ActPreview:
    """Return how many contacts go on once a sequence is resumed."""
    waiting = await _waiting(context, conn)
    return ActPreview(
        name_of(context), f"Steps that were due meanwhile are done now: {waiting} in it."
    )


async def resume(context: PageContext, conn: Conn) -> str:
    """Resume the sequence."""
    return await _paused(context, conn, is_paused=False)


async def preview_end(context: PageContext, conn: Conn) -> ActPreview:
    """Return what a contact does not get once its enrollment has ended."""
    found = await find_enrollment(context, conn)
    next_ = f" The next would be {found.step}." if found.step else ""
    return ActPreview(
        f"the enrollment of {found.email}",
        f"No further step of {found.sequence} is done for it.{next_} Emails that are queued "
        "already are sent. There is no way to undo it.",
    )


async def end(context: PageContext, conn: Conn) -> str:
    """End the enrollment."""
    found = await find_enrollment(context, conn)
    await enrollments.end(conn, context.seen.id, found.id, by=context.user.by)
    await note_act(
        conn,
        context.seen.id,
        action="enrollment.ended",
        subject=f"enrollment {found.id}",
        detail={"sequence": found.sequence, "step": found.step},
    )
    parts = ("sequences", found.sequence, "enrollments", found.id)
    return project_path(context.seen.name, *parts, done="ended")


async def _paused(context: PageContext, conn: Conn, *, is_paused: bool) -> str:
    name = name_of(context)
    await definitions.pause(conn, context.seen.id, name, is_paused=is_paused, by=context.user.by)
    done = "paused" if is_paused else "resumed"
    return project_path(context.seen.name, "sequences", name, done=done)


async def _waiting(context: PageContext, conn: Conn) -> str:
    """Return how many contacts wait for a step of the version in which contacts are enrolled."""
    found = await definitions.counts(
        conn, context.seen.id, name_of(context), version=None, is_test=False
    )
    waiting = sum(step.waiting for step in found.steps)
    return f"{counted(waiting, 'contact')} {'waits' if waiting == 1 else 'wait'} for a step"


PAGES = (
    *button_pages(
        f"{SEQUENCE}/pause",
        Right.CONTROL,
        ActPage("Pause the sequence", "Pause the sequence", preview_pause, pause),
    ),
    *button_pages(
        f"{SEQUENCE}/resume",
        Right.CONTROL,
        ActPage("Resume the sequence", "Resume the sequence", preview_resumption, resume),
    ),
    *button_pages(
        f"{ENROLLMENT}/end",
        Right.CONTROL,
        ActPage("End", "End the enrollment", preview_end, end, is_destructive=True),
        step_up=True,
    ),
)
