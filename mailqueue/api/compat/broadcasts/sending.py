"""Send a broadcast by a schedule that runs once, and take it back before it does."""

import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from mailqueue.api.compat.broadcasts import store
from mailqueue.api.compat.broadcasts.store import Broadcast, BroadcastFields
from mailqueue.api.compat.handlebars.kept import add_template
from mailqueue.api.http.context import RequestContext
from mailqueue.core.errors import Conflict, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.schedules import planning, schedules
from mailqueue.templates import writing
from mailqueue.templates.model import NewText, TemplateRow

MARKETING = "marketing"
MAX_BROADCASTS = 10_000
CHANGED = "Broadcast was changed or sent by another request meanwhile: read it again"
AT_ONCE = timedelta(seconds=1)
"""A schedule runs in the future: the time from now of one that is to run at once."""


@dataclass(frozen=True, slots=True)
class BroadcastMail:
    """The mail of a broadcast: its texts in Jinja, the names of its lists, and options of its
    schedule.
    """

    text: NewText
    list_names: Sequence[str]
    options: Mapping[str, Any]


async def add_draft(call: RequestContext, conn: Conn, fields: BroadcastFields) -> UUID:
    """Add a draft and return its id.

    Raises:
        Conflict: the project has as many broadcasts as it may have.
    """
    project_id = call.caller.project_id
    made = await store.add(conn, project_id, fields, most=MAX_BROADCASTS, by=call.by)
    if made is None:
        raise Conflict(f"A project may have {MAX_BROADCASTS} broadcasts")
    return made


async def begin(
    call: RequestContext,
    one: BroadcastFields,
    mail: BroadcastMail,
    *,
    at: datetime,
    draft: Broadcast | None = None,
) -> UUID:
    """Have a draft, or a new broadcast, sent at a time; return its id.

    A `draft`, as it was read, says `one` from then on. A template with its texts and a schedule are
    added with it, or nothing is.

    Raises:
        InvalidField: the time or what it says is refused; the field is that of a schedule.
        Conflict: it is no draft or was changed since, or the project has as many broadcasts as it
            may have.
    """
    ids: list[UUID] = []

    async def schedule(conn: Conn, template: TemplateRow) -> None:
        project_id = call.caller.project_id
        if draft is None:
            ids.append(await add_draft(call, conn, one))
        elif await store.change(conn, project_id, draft, one):
            ids.append(draft.id)
        else:
            raise Conflict(CHANGED)
        soonest = await planning.now(conn) + AT_ONCE
        given = _definition(mail, template.slug, max(at, soonest))
        made = await schedules.add(conn, project_id, given, by=call.by)
        if not await store.begin(conn, project_id, ids[0], made.id):
            raise Conflict("Broadcast has been sent already")

    slug = f"broadcast-{secrets.token_hex(8)}"
    await add_template(call, slug=slug, name=one.name or slug, text=mail.text, also=schedule)
    return ids[0]


async def take_back(call: RequestContext, conn: Conn, one: Broadcast) -> None:
    """Cancel the schedule of a broadcast that has not begun to be sent, which is a draft again.

    Raises:
        Conflict: it is a draft, or is being sent or was.
    """
    project_id = call.caller.project_id
    if one.schedule_id is None or one.status not in ("scheduled", "queued"):
        raise Conflict(f"Broadcast is {one.status}: only a scheduled one can be canceled")
    done = await schedules.cancel(conn, project_id, one.schedule_id, by=call.by)
    if done.status != "cancelled" or done.last_run is not None:
        raise Conflict("Broadcast is being sent: it cannot be canceled any more")
    await release(call, conn, one)


async def release(call: RequestContext, conn: Conn, one: Broadcast) -> None:
    """Make a broadcast whose schedule was cancelled a draft again; its template is removed."""
    project_id = call.caller.project_id
    if one.schedule_id is not None:
        await store.take_back(conn, project_id, one.id, one.schedule_id)
    if one.template is None:
        return
    with suppress(NotFound):  # it may have been removed by itself
        template = await writing.find_own(conn, project_id, slug=one.template.partition("@")[0])
        await writing.remove(conn, template, by=call.by)


def _definition(mail: BroadcastMail, slug: str, at: datetime) -> dict[str, Any]:
    """Return the schedule of a broadcast as SQL takes it. Pure."""
    payload = {key: value for key, value in mail.options.items() if value is not None}
    return {
        "schedule_type": "once",
        "run_at": at.isoformat(),
        "template_slug": slug,
        "payload": payload | {"to": list(mail.list_names)},
    }
