"""The endpoints that send one content to many, and show what became of it."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from mailqueue.api.http.context import Call
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.responses import Violations
from mailqueue.api.sending import service as sending_service
from mailqueue.api.sending.prepare import routed
from mailqueue.api.sending.schema import BatchRecipient, BatchRequest
from mailqueue.contract.sending import Batch, BatchResult, BatchState
from mailqueue.core.errors import InvalidField
from mailqueue.mail.accept.batch import BatchItem
from mailqueue.mail.accept.batches import NewBatch, enqueue_shared, find_batch
from mailqueue.tenants.model import Scope

# Of the options, what all share: it is stored once.
_SHARED = ("from_email", "from_name", "reply_to", "headers", "attachments")


async def send_batch(call: Call) -> Batch:
    """Accept one content for many recipients."""
    wanted: BatchRequest = await routed(call, call.body)
    content = {"subject": wanted.subject, "html": wanted.html_body, "text": wanted.text_body}
    return await sent_to_many(call, wanted, [content], [own_of(one) for one in wanted.recipients])


async def sent_to_many(
    call: Call,
    wanted: Any,
    contents: Sequence[dict[str, Any]],
    recipients: Sequence[dict[str, Any]],
    *,
    category: str | None = None,
) -> Batch:
    """Accept contents for recipients, with the options of the request.

    `category` is that of mail that says none.

    Raises:
        InvalidField: what they share is refused, or one of them where the mode is strict.
    """
    options = sending_service.options_for(call.caller, wanted.options())
    shared = {name: options.pop(name) for name in _SHARED if name in options}
    if category is not None:
        options.setdefault("category", category)
    batch = NewBatch([content | shared for content in contents], options, recipients)
    is_strict = wanted.mode == "strict"
    try:
        async with call.connection() as conn:
            items = await enqueue_shared(
                conn, batch, project=call.caller.project, is_strict=is_strict, by=call.by
            )
    except InvalidField as exc:
        raise sending_service.renamed(exc) from None
    if is_strict:
        _refuse_any(items)
    return _answer(items, [one.email for one in wanted.recipients])


def own_of(one: BatchRecipient) -> dict[str, Any]:
    """Return what stands in the message of one recipient."""
    own: dict[str, Any] = {"recipient": one.email}
    if one.name is not None:
        own["name"] = one.name
    if one.custom_data is not None:
        own["custom_data"] = one.custom_data
    if one.tags is not None:
        own["tags"] = one.tags
    return own


def _refuse_any(items: Sequence[BatchItem]) -> None:
    refused = [item for item in items if item.status == "rejected"]
    if refused:
        faults = [(item.place, sending_service.refusal(item.reason)) for item in refused]
        raise Violations(
            [(f"recipients.{place}.{_own(fault.field)}", fault.why) for place, fault in faults]
        )


def _own(field: str) -> str:
    return "email" if field == "to" else field


def _answer(items: Sequence[BatchItem], addresses: Sequence[str]) -> Batch:
    counts = {"queued": 0, "rejected": 0, "suppressed": 0}
    for item in items:
        counts[item.status] = counts.get(item.status, 0) + 1
    batch_id = items[0].batch_id
    assert batch_id is not None, "only a strict batch is refused as a whole"
    return Batch(
        batch_id=batch_id,
        accepted=counts["queued"],
        rejected=counts["rejected"],
        suppressed=counts["suppressed"],
        email_ids=[item.id for item in items if item.id is not None],
        results=[
            BatchResult(item.place, address, item.id, item.status, item.reason)
            for item, address in zip(items, addresses, strict=True)
        ],
    )


async def batch(call: Call) -> BatchState:
    """Show a batch."""
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
