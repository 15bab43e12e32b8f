"""Send a broadcast by a schedule that runs once, and take it back before it does."""

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from mailqueue.api.compat.handlebars.kept import add_template
from mailqueue.api.compat.mailboxes import split_mailbox
from mailqueue.api.compat.resend.broadcasts import store
from mailqueue.api.compat.resend.broadcasts.store import Broadcast, BroadcastFields
from mailqueue.api.compat.resend.broadcasts.texts import texts_of
from mailqueue.api.compat.resend.contact_properties import fallbacks_of
from mailqueue.api.compat.resend.segments import segment_of
from mailqueue.api.compat.resend.times import instant_of
from mailqueue.api.http.context import RequestContext
from mailqueue.core.errors import Conflict, InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.schedules import planning, schedules
from mailqueue.templates import writing
from mailqueue.templates.model import TemplateRow

MARKETING = "marketing"
MAX_BROADCASTS = 10_000
AT_ONCE = timedelta(seconds=1)
"""A schedule runs in the future: the time from now of one that is to run at once."""
_NAMES = {
    "html_body": "html",
    "text_body": "text",
    "from_email": "from",
    "from_name": "from",
    "run_at": "scheduled_at",
}


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


async def send(
    call: RequestContext,
    one: BroadcastFields,
    scheduled_at: str | None,
    *,
    draft_id: UUID | None = None,
) -> UUID:
    """Have a draft, or a new broadcast, sent now or at a time; return its id.

    A template with its texts and a schedule are added with it, or nothing is.

    Raises:
        InvalidField: the time or what the draft says is refused.
        NotFound: its segment was removed.
        Conflict: it is no draft, or the project has as many broadcasts as it may have.
    """
    now = datetime.now(UTC)
    at = now if scheduled_at is None else instant_of(scheduled_at, now)
    if one.list_id is None:
        raise InvalidField("segment_id", "a broadcast needs one to be sent")
    segment = await segment_of(call, one.list_id)
    fallbacks = await fallbacks_of(call)
    text = await call.in_turn(lambda: texts_of(one.content, fallbacks))

    ids: list[UUID] = []

    async def schedule(conn: Conn, template: TemplateRow) -> None:
        ids.append(draft_id or await add_draft(call, conn, one))
        soonest = await planning.now(conn) + AT_ONCE
        given = _definition(one, segment.name, template.slug, max(at, soonest))
        made = await schedules.add(conn, call.caller.project_id, given, by=call.by)
        if not await store.begin(conn, call.caller.project_id, ids[0], made.id):
            raise Conflict("Broadcast has been sent already")

    slug = f"broadcast-{secrets.token_hex(8)}"
    try:
        await add_template(call, slug=slug, name=one.name or slug, text=text, also=schedule)
    except InvalidField as exc:
        raise exc.named(_NAMES.get(exc.field, exc.field)) from exc
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
    await store.take_back(conn, project_id, one.id, one.schedule_id)
    if one.template is not None:
        template = await writing.find_own(conn, project_id, slug=one.template.partition("@")[0])
        await writing.remove(conn, template, by=call.by)


def _definition(one: BroadcastFields, list_name: str, slug: str, at: datetime) -> dict[str, Any]:
    """Return the schedule of a broadcast as SQL takes it. Pure."""
    name, address = split_mailbox(one.content["from"])
    options = {
        "from_email": address,
        "from_name": name or None,
        "reply_to": ", ".join(one.content.get("reply_to") or ()) or None,
        "category": one.topic or MARKETING,
    }
    payload = {key: value for key, value in options.items() if value is not None}
    return {
        "schedule_type": "once",
        "run_at": at.isoformat(),
        "template_slug": slug,
        "payload": payload | {"to": [list_name]},
    }
