"""Replay dead letters by today's rules: one of them, or those of a type, oldest first."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from mailqueue.admin.users.model import Right
from mailqueue.bridge import letters
from mailqueue.bridge.model import LetterFilter
from mailqueue.console.bridge.pages import COUNTS, LETTER, MAX_TYPE, PATH, find_letter
from mailqueue.console.frame.acting import ActPage, ActPreview, button_pages
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.form import FormPage, form_pages
from mailqueue.console.frame.rendering import project_path
from mailqueue.contract.automation.bridge import LetterReplay, LetterStatus
from mailqueue.core.errors import Conflict, ProjectFull
from mailqueue.core.paging import key_of
from mailqueue.db.fetch import Conn
from mailqueue.web.schemas import FormSchema


class ReplayForm(FormSchema):
    """Which dead letters are replayed."""

    type: Annotated[str | None, Field(max_length=MAX_TYPE)] = None
    """Type of the messages (all if empty)"""
    after: UUID | None = None
    """Id of a dead letter (the oldest if empty):
    those after it"""
    only_count: bool = False
    """Only count
    what would be done"""


async def preview_one(context: PageContext, conn: Conn) -> ActPreview:
    """Return what today's rules make of the dead letter."""
    found = await find_letter(context, conn)
    name = found.type or "a message without a type"
    if found.status == LetterStatus.REPLAYED:
        return ActPreview(name, "It is an event already, and is not handled again.")
    try:
        counted = await _replay_one(context, conn, is_dry=True)
    except Conflict as exc:
        return ActPreview(name, f"It cannot be handled now: {exc}.")
    return ActPreview(name, _of_one(counted))


def _of_one(counted: LetterReplay) -> str:
    """Return what a replay does with one dead letter, in words. Pure."""
    if counted.failed:
        return "By today's rules it still cannot be handled, and stays."
    if counted.duplicates:
        return "Its message is an event already, and is not handled again."
    acts = [
        f"{count} email{'' if count == 1 else 's'} {what}"
        for count, what in ((counted.emails, "queued"), (counted.cancelled, "cancelled"))
        if count
    ]
    return f"It becomes an event. By today's rules: {', '.join(acts) or 'no email'}."


async def replay_one(context: PageContext, conn: Conn) -> str:
    """Replay the dead letter; return the path of its page."""
    found = await find_letter(context, conn)
    done = await _replay_one(context, conn, is_dry=False)
    what = "failed" if done.failed else "replayed"
    return project_path(context.seen.name, "broker", found.id, done=what)


async def replay_many(context: PageContext, conn: Conn, form: ReplayForm) -> str:
    """Replay the oldest dead letters, or count what that would do; return the path of the list."""
    filters = LetterFilter(form.type, until=datetime.now(UTC))
    done = await _replay(context, conn, None, filters, after=form.after, is_dry=form.only_count)
    (last,) = key_of(done.next_cursor, UUID)
    counts = {name: getattr(done, name) for name in COUNTS}
    what = "counted" if form.only_count else "replayed_many"
    more = "" if last is None else "yes"
    # Those that still cannot be handled wait as before: the next are behind them.
    after = form.after if form.only_count else last
    query = {"type": form.type or "", "done": what, "more": more, "after": after or ""}
    return project_path(context.seen.name, "broker", **query, **counts)


async def _replay_one(context: PageContext, conn: Conn, *, is_dry: bool) -> LetterReplay:
    letter_id = context.id_in_path("letter_id", "dead letter")
    return await _replay(context, conn, [letter_id], LetterFilter(), is_dry=is_dry)


async def _replay(
    context: PageContext,
    conn: Conn,
    ids: Sequence[UUID] | None,
    filters: LetterFilter,
    *,
    after: UUID | None = None,
    is_dry: bool,
) -> LetterReplay:
    """Replay dead letters, oldest first.

    Raises:
        Conflict: the project is at a bound.
    """
    project, by = context.seen, context.user.by
    try:
        return await letters.replay(
            conn,
            project.id,
            project.name,
            ids=ids,
            filters=filters,
            after=after,
            is_dry=is_dry,
            by=by,
        )
    except ProjectFull as exc:
        raise Conflict(str(exc)) from None


PAGES = (
    *form_pages(
        f"{PATH}/replay",
        Right.CONTROL,
        FormPage(
            "Replay dead letters",
            "Replay the messages",
            ReplayForm,
            replay_many,
            lead=f"The {letters.REPLAY_LETTERS} oldest that wait are read again, and handled by "
            "today's rules.",
            consequence="Rules may queue emails and cancel others. A message that is an event "
            "already is not handled again.",
        ),
    ),
    *button_pages(
        f"{LETTER}/replay",
        Right.CONTROL,
        ActPage("Replay", "Replay the message", preview_one, replay_one),
    ),
)
