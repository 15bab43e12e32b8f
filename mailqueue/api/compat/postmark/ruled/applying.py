"""Apply a project's sender signatures and tag triggers to messages of Postmark's API."""

from collections.abc import Callable, Sequence
from typing import Any

from mailqueue.api.compat.mailboxes import format_mailbox, split_mailbox
from mailqueue.api.compat.postmark.reading import AnyMessage
from mailqueue.api.compat.postmark.ruled.store import ProjectRule, RuleKind, list_rules
from mailqueue.api.http.context import RequestContext
from mailqueue.core.address import key_of


async def rules_for(
    call: RequestContext, messages: Sequence[AnyMessage]
) -> Callable[[AnyMessage], AnyMessage]:
    """Return what gives messages the values of the project's rules that they do not say."""
    senders = await call.in_turn(lambda: {_sender(one) for one in messages})
    tags = {one.tag for one in messages} - {""}
    async with call.connection() as conn:
        found = await list_rules(conn, call.caller.project_id, None, senders | tags)
    signatures = {one.subject: one for one in found if one.kind == RuleKind.SENDER}
    triggers = {one.subject: one for one in found if one.kind == RuleKind.TAG}
    return lambda one: applied(one, signatures.get(_sender(one)), triggers.get(one.tag))


def applied(
    message: AnyMessage, signature: ProjectRule | None, trigger: ProjectRule | None
) -> AnyMessage:
    """Return a message with the name and reply address of its sender, and the choice of its tag,
    where it has none of its own. Pure.
    """
    given: dict[str, Any] = {}
    name, address = split_mailbox(message.sender)
    if signature is not None and not name and signature.settings["name"]:
        given["sender"] = format_mailbox(signature.settings["name"], address)
    if signature is not None and not message.reply_to:
        given["reply_to"] = signature.settings["reply_to"]
    if trigger is not None and getattr(message, "track_opens", None) is None:
        given["track_opens"] = trigger.settings["track_opens"]
    return message.model_copy(update=given) if given else message


def _sender(message: AnyMessage) -> str:
    return key_of(split_mailbox(message.sender)[1])
