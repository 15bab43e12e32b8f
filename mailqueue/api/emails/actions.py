"""Endpoints that change, cancel, hold, release, resend, resolve and move mail, or its batch."""

from functools import partial

from pydantic import Field

from mailqueue.api.emails import store as emails_store
from mailqueue.api.emails.schema import Instant, StorableText, Whole
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.contract.emails import Acted, Email
from mailqueue.contract.sending import ActedBatch
from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.mail.reads import emails as reads
from mailqueue.operations import acting
from mailqueue.operations.acting import NEEDED
from mailqueue.projects.model import Scope


class ReasonGiven(StrictRequestModel):
    """Reason, recorded in the audit log."""

    reason: StorableText = Field(default="by the API", min_length=1, max_length=500)
    """Reason, recorded in the audit log."""


async def act(call: RequestContext, *, action: str) -> Acted:
    """Cancel, hold, release or resend a mail if its state allows it."""
    email_id = call.id("email_id")
    async with call.connection() as conn:
        return await acting.act(
            conn,
            email_id,
            project_id=call.caller.project_id,
            action=action,
            reason=call.body.reason,
            by=call.by,
        )


class Resolution(StrictRequestModel):
    """Whether an email whose outcome is unknown was sent."""

    was_sent: bool
    """true finishes the email as sent; false queues it again."""
    note: StorableText | None = Field(default=None, min_length=1, max_length=500)
    """Evidence, stored with the email."""


async def resolve(call: RequestContext) -> Acted:
    """Record whether a mail in doubt was sent."""
    wanted: Resolution = call.body
    email_id = call.id("email_id")
    async with call.connection() as conn:
        return await acting.act(
            conn,
            email_id,
            project_id=call.caller.project_id,
            action="was_sent" if wanted.was_sent else "was_not_sent",
            reason=wanted.note,
            by=call.by,
        )


class Move(ReasonGiven):
    """Sender account that is to send an email."""

    sender: StorableText | None = Field(min_length=1, max_length=100)
    """Name of the sender account; null for any."""


async def move(call: RequestContext) -> Acted:
    """Let another sender account send a mail."""
    wanted: Move = call.body
    email_id = call.id("email_id")
    async with call.connection() as conn:
        return await acting.move(
            conn,
            email_id,
            project_id=call.caller.project_id,
            sender=wanted.sender,
            reason=wanted.reason,
            by=call.by,
        )


class EmailChange(StrictRequestModel):
    """What to change; a field that is omitted or null stays as it is."""

    scheduled_at: Instant | None = None
    """Earliest time to send: RFC 3339 with offset, `2030-05-01T08:00:00+02:00`. Sent now if in the
    past.
    """
    priority: StorableText | Whole | None = None
    """`critical`, `high`, `normal` or `low`, or 0 to 3 in this order."""


async def change(call: RequestContext) -> Email:
    """Change time or priority of a mail, both or neither, and return it."""
    wanted: EmailChange = call.body
    if wanted.scheduled_at is None and wanted.priority is None:
        raise InvalidField("scheduled_at", "scheduled_at or priority is needed")
    email_id, project_id = call.id("email_id"), call.caller.project_id
    async with call.connection() as conn:
        try:
            found = await emails_store.change(
                conn,
                email_id,
                project_id=project_id,
                at=wanted.scheduled_at,
                priority=None if wanted.priority is None else str(wanted.priority),
                by=call.by,
            )
        except InvalidField as exc:
            raise InvalidField(_FIELDS.get(exc.field, exc.field), exc.why) from None
        if found is None:
            raise NotFound("email", email_id)
        if found.outcome is None:
            raise Conflict(f"email {email_id} is {found.state}: {_CHANGEABLE}")
        return await reads.find(conn, email_id, project_id=project_id)


async def act_on_batch(call: RequestContext, *, action: str) -> ActedBatch:
    """Cancel, hold or release the mails of a batch whose state allows it."""
    batch_id = call.id("batch_id")
    async with call.connection() as conn:
        found = await emails_store.act_on_batch(
            conn,
            batch_id,
            project_id=call.caller.project_id,
            action=action,
            reason=call.body.reason,
            by=call.by,
        )
    if found is None:
        raise NotFound("batch", batch_id)
    if found.results is None:
        states = ", ".join(f"{count} {state}" for state, count in sorted(found.counts.items()))
        raise Conflict(f"batch {batch_id} has emails that are {states}: {NEEDED[action]}")
    return ActedBatch(batch_id, found.results, found.counts)


_FIELDS = {"run_at": "scheduled_at"}
_CHANGEABLE = (
    "only mail that is pending or held can be changed, its time only before the first attempt and"
    " not with a custom SMTP server"
)


def _endpoint(action: str, summary: str, description: str) -> Endpoint:
    return Endpoint(
        "POST",
        f"/v1/emails/{{email_id}}/{action}",
        Scope.EMAIL_SEND,
        summary,
        partial(act, action=action),
        request=ReasonGiven,
        response=Acted,
        tag="Emails",
        description=description,
        example={"reason": "ordered twice"},
        test_keys=ForTestKeys.OWN,
    )


def _batch_endpoint(action: str, summary: str, description: str) -> Endpoint:
    return Endpoint(
        "POST",
        f"/v1/batches/{{batch_id}}/{action}",
        Scope.EMAIL_SEND,
        summary,
        partial(act_on_batch, action=action),
        request=ReasonGiven,
        response=ActedBatch,
        tag="Emails",
        description=description,
        example={"reason": "wrong price"},
        test_keys=ForTestKeys.OWN,
    )


ACTING_ENDPOINTS = (
    _endpoint(
        "cancel",
        "Cancel an email that was not sent yet.",
        "`cancelling`: a worker has claimed it, and stops unless it was already sent.",
    ),
    _endpoint("hold", "Hold a pending email.", "It is not sent until it is released."),
    _endpoint("release", "Release a held email.", "It returns to the queue."),
    _endpoint(
        "resend",
        "Resend an email.",
        "`resent`: sent again as a new email with the `id` of the response. `requeued`: it had "
        "not been sent, and is queued again with the same id.",
    ),
    Endpoint(
        "POST",
        "/v1/emails/{email_id}/resolve",
        Scope.EMAIL_SEND,
        "Record whether an email in doubt was sent.",
        resolve,
        request=Resolution,
        response=Acted,
        tag="Emails",
        description="For an email that is held because a server or worker was lost while sending "
        "it. `sent`: it is finished. `queued`: it is sent again.",
        example={"was_sent": False, "note": "The recipient has not received it"},
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "POST",
        "/v1/emails/{email_id}/move",
        Scope.EMAIL_SEND,
        "Let another sender account send an email.",
        move,
        request=Move,
        response=Acted,
        tag="Emails",
        description="For an email that is pending or held; later attempts use the account too.",
        example={"sender": "backup", "reason": "the other server is down"},
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "PATCH",
        "/v1/emails/{email_id}",
        Scope.EMAIL_SEND,
        "Change when an email is sent, or its priority.",
        change,
        request=EmailChange,
        response=Email,
        tag="Emails",
        description="409 with its state if it is neither pending nor held, such as one that a"
        " worker has just claimed. The time can be changed until the first attempt; `expires_at`"
        " moves with it.",
        example={"scheduled_at": "2030-05-01T08:00:00+02:00", "priority": "high"},
        test_keys=ForTestKeys.OWN,
    ),
    _batch_endpoint(
        "cancel",
        "Cancel the emails of a batch that were not sent yet.",
        "`results` counts those that are `cancelled`, and those that are `cancelling`: a worker has"
        " claimed them, and stops unless they were already sent. 409 with the states if there are"
        " none.",
    ),
    _batch_endpoint(
        "hold",
        "Hold the pending emails of a batch.",
        "They are not sent until they are released. 409 with the states if none is pending.",
    ),
    _batch_endpoint(
        "release",
        "Release the held emails of a batch.",
        "They return to the queue. 409 with the states if none is held.",
    ),
)
