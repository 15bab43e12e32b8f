"""Endpoints that send one content to many recipients, and show the result."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.responses import Violations
from mailqueue.api.sending import service as sending_service
from mailqueue.api.sending.override import batch_by_override
from mailqueue.api.sending.prepare import routed
from mailqueue.api.sending.schema import BatchRecipient, BatchRequest, SmtpOverride
from mailqueue.contract.sending import Batch, BatchResult, BatchState
from mailqueue.core.errors import InvalidField
from mailqueue.core.trace_context import with_traceparent
from mailqueue.mail.accept.acceptance import (
    AcceptedBatch,
    AcceptResult,
    Expanding,
    RecipientsRefused,
    accept_shared,
)
from mailqueue.mail.accept.batches import find_batch
from mailqueue.mail.accept.log_lines import log_batch
from mailqueue.mail.model import NewBatch
from mailqueue.projects.model import Scope

LISTS = (
    "A recipient may be the name of a list, which has no `@`: workers make an email for each "
    "contact that is in it, and `GET /v1/batches/{batch_id}` shows how far they are. A contact "
    "gets one email of a batch, whatever lists it is in. `category`, of the request or of its "
    "template, has to be another than `transactional`."
)
LIST = (
    "`to` may be the name of a list: then `id` is that of a batch, the status `expanding`, and "
    "each contact of the list gets an email of its own. `category` has to be another than "
    "`transactional`, and no other recipient stands beside the list."
)
# Options that all mails share: they are stored once.
_SHARED = ("from_email", "from_name", "reply_to", "headers", "attachments")


async def send_batch(call: RequestContext) -> Batch:
    """Accept one content for many recipients."""
    wanted: BatchRequest = await routed(call, call.body)
    content = {"subject": wanted.subject, "html": wanted.html_body, "text": wanted.text_body}
    return await sent_to_many(call, wanted, [content], [own_of(one) for one in wanted.recipients])


async def sent_to_many(
    call: RequestContext,
    request: Any,
    contents: Sequence[dict[str, Any]],
    recipients: Sequence[Mapping[str, Any]],
    *,
    category: str | None = None,
) -> Batch:
    """Accept contents for recipients, with the options of the request.

    `category` is the default category.

    Raises:
        InvalidField: a shared field is invalid, or, in strict mode, one recipient is refused.
    """
    options = sending_service.options_for(call.caller, request.options())
    shared = {name: options.pop(name) for name in _SHARED if name in options}
    if category is not None:
        options.setdefault("category", category)
    if (traceparent := call.traceparent) is not None:
        recipients = [with_traceparent(one, traceparent) for one in recipients]
    batch = NewBatch([content | shared for content in contents], options, recipients)
    is_strict = request.mode == "strict"
    try:
        accepted = await _accepted(call, batch, request.smtp_override, is_strict=is_strict)
    except InvalidField as exc:
        raise sending_service.renamed(exc) from None
    except RecipientsRefused as exc:
        named = {place: _named(fault) for place, fault in exc.faults.items()}
        raise Violations(
            [(f"recipients.{place}.{fault.field}", fault.why) for place, fault in named.items()]
        ) from None
    if accepted.id is not None:
        call.name_after(accepted.id)
    call.once_committed(partial(log_batch, call.caller.project, batch, accepted))
    warnings = _warnings(cc=request.cc, bcc=request.bcc, count=len(request.recipients))
    return _answer(accepted, [one.email for one in request.recipients], warnings)


async def _accepted(
    call: RequestContext, batch: NewBatch, override: SmtpOverride | None, *, is_strict: bool
) -> AcceptedBatch:
    if override is not None:
        return await batch_by_override(call, batch, override, is_strict=is_strict)
    async with call.connection() as conn:
        return await accept_shared(
            conn, batch, project=call.caller.project, is_strict=is_strict, by=call.by
        )


def _warnings(*, cc: Sequence[str], bcc: Sequence[str], count: int) -> list[str]:
    """Return what the caller may not have expected of `cc` and `bcc`. Pure."""
    found = []
    if cc:
        found.append(
            f"cc: each of the {count} emails also goes to {len(cc)} in Cc, whom its recipient sees"
        )
    if bcc:
        found.append(f"bcc: each of the {count} emails also goes to {len(bcc)} in Bcc")
    return found


def own_of(one: BatchRecipient) -> dict[str, Any]:
    """Return the fields of one recipient's own message."""
    own: dict[str, Any] = {"recipient": one.email}
    if one.name is not None:
        own["name"] = one.name
    if one.custom_data is not None:
        own["custom_data"] = one.custom_data
    if one.tags is not None:
        own["tags"] = one.tags
    return own


def _named(fault: InvalidField) -> InvalidField:
    """Return the refusal of a recipient with the field's name in the request."""
    found = sending_service.renamed(fault)
    return InvalidField("email", found.why) if found.field in ("to", "recipients") else found


def _answer(accepted: AcceptedBatch, addresses: Sequence[str], warnings: Sequence[str]) -> Batch:
    results = [
        _result(index, address, found)
        for index, (address, found) in enumerate(zip(addresses, accepted.results, strict=True))
    ]
    counts = Counter(one.status for one in results)
    return Batch(
        batch_id=accepted.id,
        accepted=counts["queued"],
        rejected=counts["rejected"],
        suppressed=counts["suppressed"],
        email_ids=[one.id for one in results if one.id is not None],
        results=results,
        warnings=warnings,
    )


def _result(index: int, address: str, result: AcceptResult | Expanding) -> BatchResult:
    if isinstance(result, Expanding):
        return BatchResult(index, address, None, "expanding", None)
    if isinstance(result, InvalidField):
        return BatchResult(index, address, None, "rejected", str(_named(result)))
    return BatchResult(index, address, result.id, result.status, result.reason)


async def batch(call: RequestContext) -> BatchState:
    """Return a batch."""
    batch_id = call.id("batch_id")
    async with call.connection() as conn:
        found = await find_batch(conn, call.caller.project_id, batch_id)
    return BatchState(
        id=found.id,
        created_at=found.created_at,
        created_by=found.created_by,
        subject=found.subject,
        recipients=found.recipients,
        rejected=found.rejected,
        counts=found.counts,
        lists=found.lists,
    )


BATCH_ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/send/batch",
        Scope.EMAIL_SEND,
        "Send the same email separately to up to 10,000 recipients.",
        send_batch,
        request=BatchRequest,
        response=Batch,
        status=HTTPStatus.ACCEPTED,
        tag="Sending",
        description=LISTS,
        example={
            "subject": "We moved",
            "text_body": "Our new address is …",
            "recipients": [{"email": "ann@example.com"}, {"email": "bob@example.com"}],
        },
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        "/v1/batches/{batch_id}",
        Scope.EMAIL_READ,
        "Show a batch and how many of its emails are in each state.",
        batch,
        response=BatchState,
        tag="Emails",
        test_keys=ForTestKeys.OWN,
    ),
)
