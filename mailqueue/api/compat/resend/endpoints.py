"""Resend's API: sending."""

from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from mailqueue.api.compat.accepting import (
    OneRefused,
    Wanted,
    accept_all,
    accept_in_transaction,
    prepare_email,
    prepare_emails,
)
from mailqueue.api.compat.idempotency import respond_once
from mailqueue.api.compat.model import CompatApi, sending_endpoint
from mailqueue.api.compat.reading import document_of
from mailqueue.api.compat.resend.api_keys import KEY_ENDPOINTS
from mailqueue.api.compat.resend.automated.automations import AUTOMATION_ENDPOINTS
from mailqueue.api.compat.resend.automated.events import EVENT_ENDPOINTS
from mailqueue.api.compat.resend.automated.runs import RUN_ENDPOINTS
from mailqueue.api.compat.resend.broadcasts.endpoints import BROADCAST_ENDPOINTS
from mailqueue.api.compat.resend.contact_properties import PROPERTY_ENDPOINTS
from mailqueue.api.compat.resend.contacts import CONTACT_ENDPOINTS
from mailqueue.api.compat.resend.domains import DOMAIN_ENDPOINTS
from mailqueue.api.compat.resend.emails import EMAIL_ENDPOINTS
from mailqueue.api.compat.resend.faults import (
    MissingKey,
    field_description,
    invalid_document,
    rates,
    refused,
)
from mailqueue.api.compat.resend.files import FILE_ENDPOINTS
from mailqueue.api.compat.resend.metrics import METRICS_ENDPOINTS
from mailqueue.api.compat.resend.model import ResendEmail
from mailqueue.api.compat.resend.octets import octets_as_text
from mailqueue.api.compat.resend.pages import idempotency_key_of
from mailqueue.api.compat.resend.received import RECEIVED_ENDPOINTS
from mailqueue.api.compat.resend.segments import SEGMENT_ENDPOINTS
from mailqueue.api.compat.resend.suppressions import SUPPRESSION_ENDPOINTS
from mailqueue.api.compat.resend.templates import TEMPLATE_ENDPOINTS
from mailqueue.api.compat.resend.topics import TOPIC_ENDPOINTS
from mailqueue.api.compat.resend.webhook_events import WEBHOOK_EVENT_ENDPOINTS
from mailqueue.api.compat.resend.webhooks import WEBHOOK_ENDPOINTS
from mailqueue.api.http.auth import bearer_key
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.requests.body import headers_by_name
from mailqueue.api.http.responses import BadJson, json_answer
from mailqueue.api.http.validation import validated
from mailqueue.api.sending.service import accepted
from mailqueue.contract.sending import Sent
from mailqueue.core.errors import InvalidField

BODY_BYTES = 60 * 1024 * 1024
"""Largest body in bytes: a mail with attachments of 40 MB in base64."""
MAX_IN_BATCH = 100
PERMISSIVE = "permissive"
NOT_THERE = ("/logs", "/usage", "/inboxes", "/oauth")
"""Paths of Resend's API of which nothing is supported; its clients are told so in its form."""


async def send(call: RequestContext) -> Response:
    """Accept one mail."""
    document = await document_of(call, max_bytes=BODY_BYTES, prepared=octets_as_text)
    key = idempotency_key_of(call)
    ready = await prepare_email(call, await call.in_turn(lambda: _wanted(document, call.values)))
    if key is None:
        return _one(await accepted(call, ready))

    async def answer() -> Response:
        return _one(await accept_in_transaction(call, ready))

    return await respond_once(call, key, document, answering=answer)


async def send_batch(call: RequestContext) -> Response:
    """Accept up to 100 mails: all or none, or the valid ones, as `x-batch-validation` says."""
    document = await document_of(call, max_bytes=BODY_BYTES, prepared=octets_as_text)
    is_strict = _is_strict(call)
    key = idempotency_key_of(call)
    if not isinstance(document, list):
        raise BadJson("the body must be a list of emails")
    if not 1 <= len(document) <= MAX_IN_BATCH:
        why = f"a batch has 1 to {MAX_IN_BATCH} emails, got {len(document)}"
        raise InvalidField("emails", why)
    wanted = await call.in_turn(lambda: [_judged(each, call.values) for each in document])
    ready = await prepare_emails(call, wanted)
    if is_strict:
        for index, one in enumerate(ready):
            if isinstance(one, InvalidField):
                raise OneRefused(index, one)

    async def answer() -> Response:
        judged = await accept_all(call, ready, is_strict=is_strict)
        shown: dict[str, Any] = {
            "data": [{"id": one.id} for one in judged if isinstance(one, Sent)]
        }
        if not is_strict:
            shown["errors"] = [
                {"index": index, "message": field_description(one)[2]}
                for index, one in enumerate(judged)
                if isinstance(one, InvalidField)
            ]
        return json_answer(shown)

    if key is None:
        return await answer()
    return await respond_once(call, key, [is_strict, document], answering=answer)


def _wanted(document: Any, values: int) -> Wanted:
    try:
        email = validated(ResendEmail, document, values)
    except ValidationError as exc:
        if not isinstance(document, dict):
            raise BadJson("the body must be a JSON object") from None
        raise invalid_document(exc) from None
    return email.to_mail(datetime.now(UTC))


def _judged(document: Any, values: int) -> Wanted | InvalidField:
    try:
        return _wanted(document, values)
    except InvalidField as exc:
        return exc
    except BadJson:
        return InvalidField("emails", "each must be an object")


def _one(sent: Sent) -> Response:
    return json_answer({"id": sent.id})


def _is_strict(call: RequestContext) -> bool:
    given = headers_by_name(call.request).get(b"x-batch-validation", b"strict").decode("latin-1")
    if given not in ("strict", PERMISSIVE):
        raise InvalidField("x-batch-validation", f"strict or permissive, got {given[:100]!r}")
    return given == "strict"


def key_of(request: Request) -> str:
    """Return the API key of `Authorization: Bearer`.

    Raises:
        Unauthorized: there is none.
    """
    key = bearer_key(request)
    if not key:
        raise MissingKey("an API key is needed: Authorization: Bearer")
    return key


RESEND = CompatApi(
    name="resend",
    endpoints=(
        sending_endpoint("/emails", "Send an email.", send),
        sending_endpoint("/emails/batch", "Send up to 100 emails.", send_batch),
        *METRICS_ENDPOINTS,
        *RECEIVED_ENDPOINTS,
        *EMAIL_ENDPOINTS,
        *FILE_ENDPOINTS,
        *SUPPRESSION_ENDPOINTS,
        *WEBHOOK_ENDPOINTS,
        *WEBHOOK_EVENT_ENDPOINTS,
        *DOMAIN_ENDPOINTS,
        *CONTACT_ENDPOINTS,
        *SEGMENT_ENDPOINTS,
        *TOPIC_ENDPOINTS,
        *KEY_ENDPOINTS,
        *TEMPLATE_ENDPOINTS,
        *BROADCAST_ENDPOINTS,
        *PROPERTY_ENDPOINTS,
        *EVENT_ENDPOINTS,
        *AUTOMATION_ENDPOINTS,
        *RUN_ENDPOINTS,
    ),
    credential_of=key_of,
    refused=refused,
    roots=(
        *("/emails", "/suppressions", "/webhooks", "/domains"),
        *("/contacts", "/segments", "/audiences", "/topics", "/api-keys", "/templates"),
        *("/broadcasts", "/contact-properties", "/events", "/automations", *NOT_THERE),
    ),
    rates=rates,
)
