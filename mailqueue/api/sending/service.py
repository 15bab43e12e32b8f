"""Convert requests to mails, accept them, and convert the results to responses."""

from collections.abc import Mapping, Sequence
from typing import Any

from mailqueue.api.http.context import RequestContext
from mailqueue.api.sending.schema import SendRequest, TemplateRequest
from mailqueue.contacts.model import is_list_name
from mailqueue.contract.sending import Sent
from mailqueue.core.errors import InvalidField
from mailqueue.core.mail_options import MAIL_OPTIONS
from mailqueue.core.trace_context import with_traceparent
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusal_of
from mailqueue.mail.accept.acceptance import AcceptResult, accept
from mailqueue.mail.accept.enqueue import NewEmail
from mailqueue.mail.accept.lists import accept_for_list, is_list
from mailqueue.mail.accept.mode import with_test_mode
from mailqueue.projects.model import Caller

FIELD_BY_OPTION: Mapping[str, str] = {
    "recipient": "to",
    "recipient_email": "to",
    "recipient_name": "to",
    "html": "html_body",
    "text": "text_body",
    "template": "template_slug",
    **{one.name: one.api for one in MAIL_OPTIONS if one.api},
}
"""Field of a request by its SQL name, where they differ."""


def new_email(
    caller: Caller, request: SendRequest | TemplateRequest, traceparent: str | None = None
) -> NewEmail:
    """Return the mail of a request, with the trace context of its headers. Pure.

    Raises:
        InvalidField: a test key that names a sender other than the trap.
        Conflict: a test key in a project without a trap.
    """
    options = with_traceparent(options_for(caller, request.options()), traceparent)
    if isinstance(request, TemplateRequest):
        return NewEmail(recipient=request.to[0], subject=None, options=options)
    return NewEmail(
        recipient=request.to[0],
        subject=request.subject,
        html=request.html_body,
        text=request.text_body,
        options=options,
    )


def options_for(caller: Caller, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options, those of test mail where the caller has a test key. Pure.

    Raises:
        InvalidField: a test key that names a sender other than the trap.
        Conflict: a test key in a project without a trap.
    """
    try:
        return with_test_mode(caller, options)
    except InvalidField as exc:
        raise renamed(exc) from None


async def accepted(call: RequestContext, request: SendRequest | TemplateRequest) -> Sent:
    """Accept the mail of one request, in a commit shared with concurrent requests.

    Raises:
        InvalidField: the mail is refused.
    """
    email = new_email(call.caller, request, call.traceparent)
    try:
        sent = await call.runtime.intake.accept(call.caller, email, size=call.size)
    except InvalidField as exc:
        raise renamed(exc) from None
    call.name_after(sent.id)
    return sent


async def accepted_or_expanding(
    call: RequestContext, request: SendRequest | TemplateRequest
) -> Sent:
    """Accept the mail of one request, also to the name of a list.

    Raises:
        InvalidField: the mail is refused.
    """
    if not is_list_name(request.to[0]):  # nearly every email
        return await accepted(call, request)
    try:
        sent = await accepted_for_list(call, new_email(call.caller, request, call.traceparent))
    except InvalidField as exc:
        raise renamed(exc) from None
    if sent is None:
        return await accepted(call, request)
    call.name_after(sent.id)
    return sent


async def accepted_for_list(
    call: RequestContext, email: NewEmail, *, is_trial: bool = False
) -> Sent | None:
    """Accept an email whose recipient is the name of a list; None if there is no such list.

    Raises:
        InvalidField: the mail is refused.
    """
    project_id = call.caller.project_id
    async with call.connection() as conn:
        if not await is_list(conn, email, project_id):
            return None
        return await accept_for_list(conn, email, project_id, by=call.by, is_trial=is_trial)


async def accepted_all(
    conn: Conn, emails: Sequence[NewEmail], *, project: str, is_trial: bool = False
) -> list[AcceptResult]:
    """Accept mails of a project in one commit, each by itself; a trial is rolled back."""
    found = await accept(conn, emails, project=project, is_trial=is_trial)
    return [renamed(one) if isinstance(one, InvalidField) else one for one in found]


def refusal(reason: str | None) -> InvalidField:
    """Return the refusal of one mail of several, whose text is `field: why`. Pure."""
    return renamed(refusal_of(reason))


def renamed(exc: InvalidField) -> InvalidField:
    """Return a refusal with the field's name in the API. Pure."""
    return exc.named(FIELD_BY_OPTION.get(exc.field, exc.field))
