"""SendGrid's API: a test mail of a template.

Follows twilio.com/docs/sendgrid/api-reference/send-test-email. The mail is a mail as any other,
without variables: a template that needs some is refused.
"""

from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field
from starlette.responses import Response

from mailqueue.api.compat.accepting import OneRefused
from mailqueue.api.compat.batch import accept_together
from mailqueue.api.compat.handlebars.kept import own_template
from mailqueue.api.compat.model import batch_endpoint
from mailqueue.api.compat.sendgrid.checks import check
from mailqueue.api.compat.sendgrid.groups import category_of_group
from mailqueue.api.compat.sendgrid.mails import mails_of
from mailqueue.api.compat.sendgrid.marketing.senders import signature_of
from mailqueue.api.compat.sendgrid.model import SendGridMail
from mailqueue.api.compat.sendgrid.suppressions import body_of, refuse_subuser
from mailqueue.api.compat.signatures import address_of_signature
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.api.http.validation import validated
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.templates import versions

MAX_EMAILS = 10
_Text = Annotated[StorableText, Field(max_length=320)]
_NAMES = {"template_slug": "template_id", "variables": "template_id"}


class TrialMail(StrictRequestModel):
    """The body of POST /v3/marketing/test/send_email."""

    template_id: Annotated[StorableText, Field(min_length=1, max_length=100)]
    version_id_override: Annotated[UUID, Field(strict=False)] | None = None
    sender_id: Annotated[int, Field(ge=0, le=2**53)] | None = None
    from_address: _Text | None = None
    suppression_group_id: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None
    custom_unsubscribe_url: StorableText | None = None
    emails: Annotated[list[_Text], Field(min_length=1, max_length=MAX_EMAILS)]


async def send(call: RequestContext) -> Response:
    """Send a template to some addresses, to each of them a mail: all or none."""
    refuse_subuser(call.request)
    body = await body_of(call, TrialMail)
    if body.custom_unsubscribe_url:
        raise InvalidField("custom_unsubscribe_url", "is not supported here")
    emails = dict.fromkeys(
        address_of_signature(f"emails.{place}", one) for place, one in enumerate(body.emails)
    )
    document: dict[str, Any] = {
        "from": await _sender(call, body),
        "template_id": await _template(call, body),
        "personalizations": [{"to": [{"email": one}]} for one in emails],
    }
    if body.suppression_group_id is not None:
        field = "suppression_group_id"
        await category_of_group(call, body.suppression_group_id, field=field)
        document["asm"] = {"group_id": body.suppression_group_id}
    mail = validated(SendGridMail, document, call.values)
    check(mail, datetime.now(UTC))
    try:
        await accept_together(call, await call.in_turn(lambda: mails_of(mail, None)))
    except OneRefused as exc:
        raise _named(exc) from None
    return json_answer({}, status=HTTPStatus.ACCEPTED)


async def _sender(call: RequestContext, body: TrialMail) -> dict[str, str]:
    """Return the mailbox that the mail is from.

    Raises:
        InvalidField: there is neither an address nor a sender, or no such sender.
    """
    if body.from_address is not None:
        return {"email": address_of_signature("from_address", body.from_address)}
    if body.sender_id is None:
        raise InvalidField("sender_id", "is needed, or from_address")
    one = await signature_of(call, body.sender_id)
    if one is None:
        raise InvalidField("sender_id", "there is no such sender")
    return {"email": one.address, "name": one.settings.get("name", "")}


async def _template(call: RequestContext, body: TrialMail) -> str:
    """Return the template and its version as POST /v3/mail/send takes them.

    Raises:
        InvalidField: there is no such template, or no such version of it.
    """
    try:
        template = await own_template(call, body.template_id)
    except NotFound:
        raise InvalidField("template_id", "there is no such template") from None
    if body.version_id_override is None:
        return template.slug
    async with call.connection() as conn:
        try:
            one = await versions.find(conn, template, version_id=body.version_id_override)
        except NotFound:
            raise InvalidField("version_id_override", "there is no such version") from None
    return f"{template.slug}@{one.version}"


def _named(exc: OneRefused) -> InvalidField | OneRefused:
    """Return the refusal with the names of this request."""
    name = exc.fault.field.partition(".")[0]
    if name == "to":
        return exc.fault.named(f"emails.{exc.index}")
    if name == "category":
        return exc.fault.named("suppression_group_id")
    return exc.fault.named(_NAMES[name]) if name in _NAMES else exc


TRIAL_ENDPOINTS = (
    batch_endpoint("POST", "/v3/marketing/test/send_email", "Send a test mail.", send),
)
