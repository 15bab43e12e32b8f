"""Endpoints that cancel, release and resend mail."""

from functools import partial

from pydantic import Field

from mailqueue.api.emails import store as emails_store
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.contract.emails import Acted
from mailqueue.core.errors import Conflict, NotFound
from mailqueue.tenants.model import Scope


class ReasonGiven(StrictRequestModel):
    """Reason, recorded in the audit log."""

    reason: StorableText = Field(default="by the API", min_length=1, max_length=500)
    """Reason, recorded in the audit log."""


async def act(call: RequestContext, *, action: str) -> Acted:
    """Cancel, release or resend a mail if its state allows it."""
    email_id = call.id("email_id")
    async with call.connection() as conn:
        found = await emails_store.act(
            conn,
            email_id,
            project_id=call.caller.project_id,
            action=action,
            reason=call.body.reason,
            by=call.by,
        )
    if found is None:
        raise NotFound("email", email_id)
    if found.outcome is None:
        raise Conflict(f"email {email_id} is {found.state}: {_NEEDED[action]}")
    return Acted(found.email_id, _WORDS.get(found.outcome, found.outcome))


_NEEDED = {
    "cancel": "only mail that is pending, held or being sent can be cancelled",
    "release": "only mail that is held can be released",
    "resend": "only mail that was sent, failed, expired or was cancelled can be resent, "
    "and only while its content is stored",
}
_WORDS = {"asked": "cancelling"}


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


ACTING_ENDPOINTS = (
    _endpoint(
        "cancel",
        "Cancel an email that was not sent yet.",
        "`cancelling`: a worker has claimed it, and stops unless it was already sent.",
    ),
    _endpoint("release", "Release a held email.", "It returns to the queue."),
    _endpoint(
        "resend",
        "Resend an email.",
        "`resent`: sent again as a new email with the `id` of the response. `requeued`: it had "
        "not been sent, and is queued again with the same id.",
    ),
)
