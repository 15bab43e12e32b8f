"""Log lines of accepted emails that have correlation ids, written after their commit.

An email without such ids has no line, nor has one that an earlier request made.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

from mailqueue.contract.sending import Repeated, Sent
from mailqueue.core.address import InvalidAddress, parse_mailbox
from mailqueue.mail.accept.acceptance import AcceptedBatch, AcceptResult
from mailqueue.mail.accept.enqueue import NewEmail
from mailqueue.mail.accept.raw import PreparedRaw
from mailqueue.mail.correlation import correlation_of
from mailqueue.mail.model import NewBatch
from mailqueue.telemetry.log import get_logger, mask

MAX_LINES = 10
"""Emails of one request that have a line each; more have one line together."""
_SHOWN = ("category", "priority")

log = get_logger(__name__)


class _Line(NamedTuple):
    sent: Sent
    recipient: object
    ids: Mapping[str, str]
    options: Mapping[str, Any]


def log_emails(
    project: str, emails: Sequence[NewEmail], results: Sequence[AcceptResult | None]
) -> None:
    """Write that emails of one request were accepted; results that are no emails are left out."""
    lines = [
        _Line(result, email.recipient, ids, email.options)
        for email, result in zip(emails, results, strict=True)
        if _is_new(result) and (ids := correlation_of(email.options.get("custom_data")))
    ]
    _write(project, lines)


def log_message(project: str, message: PreparedRaw, result: Sent) -> None:
    """Write that a finished message was accepted, with the number of its emails if several."""
    options: Any = message.documents[0]["email"]
    ids = correlation_of(options.get("custom_data"))
    if ids and _is_new(result):
        count = len(message.documents)
        more = {"emails": count} if count > 1 else {}
        _write(project, [_Line(result, options["recipient"], ids, options)], more)


def log_batch(project: str, batch: NewBatch, accepted: AcceptedBatch) -> None:
    """Write that the emails of a batch were accepted, with the id of the batch."""
    of_all = batch.options.get("custom_data")
    lines = [
        _Line(result, given["recipient"], ids, batch.options)
        for given, result in zip(batch.recipients, accepted.results, strict=True)
        if _is_new(result) and (ids := correlation_of(given.get("custom_data", of_all)))
    ]
    _write(project, lines, {"batch_id": str(accepted.id)})


def _write(project: str, lines: Sequence[_Line], more: Mapping[str, object] | None = None) -> None:
    more = more or {}
    if len(lines) > MAX_LINES:
        shared = dict(set.intersection(*(set(line.ids.items()) for line in lines)))
        log.info("emails.accepted", project=project, emails=len(lines), **more, **shared)
        return
    for line in lines:
        shown = {name: line.options[name] for name in _SHOWN if line.options.get(name)}
        log.info(
            "email.accepted",
            email_id=str(line.sent.id),
            project=project,
            status=line.sent.status,
            recipient=_masked(line.recipient),
            **shown,
            **more,
            **line.ids,
        )


def _is_new(result: object) -> TypeGuard[Sent]:
    is_repeated = isinstance(result, Repeated)
    return isinstance(result, Sent) and not is_repeated and result.status != "duplicate"


def _masked(recipient: object) -> str:
    try:
        return mask(parse_mailbox(str(recipient)).address.sent)
    except InvalidAddress:
        return mask("")
