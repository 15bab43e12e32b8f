"""Send a single send by a schedule that runs once."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from mailqueue.api.compat.broadcasts.sending import BroadcastMail, begin
from mailqueue.api.compat.broadcasts.store import SINGLE_SEND, Broadcast, BroadcastFields
from mailqueue.api.compat.sendgrid.groups import category_of_group
from mailqueue.api.compat.sendgrid.marketing.senders import signature_of
from mailqueue.api.compat.sendgrid.marketing.singlesends.model import categories_of, said_of
from mailqueue.api.compat.sendgrid.marketing.singlesends.texts import texts_of
from mailqueue.api.compat.signatures import Signature
from mailqueue.api.http.context import RequestContext
from mailqueue.contacts import lists
from mailqueue.core.errors import InvalidField, NotFound

_SENDER = "email_config.sender_id"
_GROUP = "email_config.suppression_group_id"
_NAMES = {
    "subject": "email_config.subject",
    "html_body": "email_config.html_content",
    "text_body": "email_config.plain_content",
    "from_email": _SENDER,
    "from_name": _SENDER,
    "reply_to": _SENDER,
    "category": _GROUP,
    "run_at": "send_at",
    "to": "send_to",
    "tags": "categories",
}


async def schedule_at(call: RequestContext, one: Broadcast, send_at: datetime | str) -> datetime:
    """Have a draft sent now or at a time, which is returned.

    Raises:
        InvalidField: the time or what the draft says is refused.
        Conflict: it is no draft any more, or was changed since it was read.
    """
    now = datetime.now(UTC)
    at = send_at if isinstance(send_at, datetime) else now
    if at < now:
        raise InvalidField("send_at", "must be in the future, or `now`")
    said = {**said_of(one), "send_at": at.isoformat()}
    mail: Mapping[str, Any] = said.get("email_config") or {}
    chosen = await _lists(call, said.get("send_to") or {})
    sender = await _sender(call, mail.get("sender_id"))
    group = mail.get("suppression_group_id")
    if group is None:
        raise InvalidField(_GROUP, "is needed to send it: each mail can be unsubscribed from")
    category = await category_of_group(call, group, field=_GROUP)
    text = await call.in_turn(lambda: texts_of(mail, sender))
    options = {
        "from_email": sender.address,
        "from_name": sender.settings.get("name") or None,
        "reply_to": sender.settings.get("reply_to") or None,
        "category": category,
        "tags": categories_of(one) or None,
    }
    fields = BroadcastFields(one.name, None, category, {SINGLE_SEND: said})
    try:
        sent = BroadcastMail(text, chosen, options)
        await begin(call, fields, sent, at=at, draft=one)
    except InvalidField as exc:
        raise exc.named(_NAMES.get(exc.field, exc.field)) from exc
    return at


async def _lists(call: RequestContext, to: Mapping[str, Any]) -> list[str]:
    """Return the names of the lists and segments that a single send is sent to.

    Raises:
        InvalidField: it names none, or one that is not there.
    """
    found = []
    for field in ("list_ids", "segment_ids"):
        for text in dict.fromkeys(to.get(field) or ()):
            why = f"there is no {text}"
            async with call.connection() as conn:
                try:
                    one = await lists.find(conn, call.caller.project_id, UUID(text))
                except NotFound:
                    raise InvalidField(f"send_to.{field}", why) from None
            if (one.condition is None) != (field == "list_ids"):
                raise InvalidField(f"send_to.{field}", why)
            found.append(one.name)
    if not found:
        raise InvalidField("send_to", "a list or a segment is needed to send it")
    return found


async def _sender(call: RequestContext, number: int | None) -> Signature:
    """Return the sender.

    Raises:
        InvalidField: none is named, there is none of that id, or the project may not use it.
    """
    if number is None:
        raise InvalidField(_SENDER, "is needed to send it")
    one = await signature_of(call, number)
    if one is None:
        raise InvalidField(_SENDER, "there is no such sender")
    if not one.is_confirmed:
        raise InvalidField(_SENDER, f"the project may not send from {one.address}")
    return one
