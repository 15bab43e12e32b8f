"""Send a broadcast of Resend's API."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from mailqueue.api.compat.broadcasts.sending import MARKETING, BroadcastMail, begin
from mailqueue.api.compat.broadcasts.store import Broadcast, BroadcastFields
from mailqueue.api.compat.mailboxes import split_mailbox
from mailqueue.api.compat.resend.broadcasts.texts import texts_of
from mailqueue.api.compat.resend.contact_properties import fallbacks_of
from mailqueue.api.compat.resend.segments import segment_of
from mailqueue.api.compat.resend.times import instant_of
from mailqueue.api.http.context import RequestContext
from mailqueue.core.errors import InvalidField

_NAMES = {
    "html_body": "html",
    "text_body": "text",
    "from_email": "from",
    "from_name": "from",
    "run_at": "scheduled_at",
}


async def send(
    call: RequestContext,
    one: BroadcastFields,
    scheduled_at: str | None,
    *,
    draft: Broadcast | None = None,
) -> UUID:
    """Have a draft, or a new broadcast, sent now or at a time; return its id.

    Raises:
        InvalidField: the time or what the draft says is refused.
        NotFound: its segment was removed.
        Conflict: it is no draft or was changed since, or the project has as many broadcasts as it
            may have.
    """
    now = datetime.now(UTC)
    at = now if scheduled_at is None else instant_of(scheduled_at, now)
    if one.list_id is None:
        raise InvalidField("segment_id", "a broadcast needs one to be sent")
    segment = await segment_of(call, one.list_id)
    fallbacks = await fallbacks_of(call)
    text = await call.in_turn(lambda: texts_of(one.content, fallbacks))
    mail = BroadcastMail(text, [segment.name], _options(one))
    try:
        return await begin(call, one, mail, at=at, draft=draft)
    except InvalidField as exc:
        raise exc.named(_NAMES.get(exc.field, exc.field)) from exc


def _options(one: BroadcastFields) -> dict[str, Any]:
    name, address = split_mailbox(one.content["from"])
    return {
        "from_email": address,
        "from_name": name or None,
        "reply_to": ", ".join(one.content.get("reply_to") or ()) or None,
        "category": one.topic or MARKETING,
    }
