"""SendGrid's API: POST /v3/mail/send."""

from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from mailqueue.api.compat.accepting import OneRefused
from mailqueue.api.compat.batch import accept_together, validate_together
from mailqueue.api.compat.model import CompatApi, sending_endpoint
from mailqueue.api.compat.reading import document_of
from mailqueue.api.compat.sendgrid.api_keys import KEY_ENDPOINTS
from mailqueue.api.compat.sendgrid.breakdowns import BREAKDOWN_ENDPOINTS
from mailqueue.api.compat.sendgrid.checks import check
from mailqueue.api.compat.sendgrid.domains import DOMAIN_ENDPOINTS
from mailqueue.api.compat.sendgrid.faults import (
    SendGridRefused,
    Wrong,
    invalid_document,
    located,
    rates,
    refused,
)
from mailqueue.api.compat.sendgrid.groups import GROUP_ENDPOINTS
from mailqueue.api.compat.sendgrid.mails import mails_of
from mailqueue.api.compat.sendgrid.marketing.contacts import CONTACT_ENDPOINTS
from mailqueue.api.compat.sendgrid.marketing.fields import FIELD_ENDPOINTS
from mailqueue.api.compat.sendgrid.marketing.lists import LIST_ENDPOINTS
from mailqueue.api.compat.sendgrid.marketing.segments import SEGMENT_ENDPOINTS
from mailqueue.api.compat.sendgrid.marketing.senders import SENDER_ENDPOINTS
from mailqueue.api.compat.sendgrid.marketing.singlesends.endpoints import SINGLE_SEND_ENDPOINTS
from mailqueue.api.compat.sendgrid.marketing.singlesends.statistics import (
    SINGLE_SEND_STATS_ENDPOINTS,
)
from mailqueue.api.compat.sendgrid.marketing.trial import TRIAL_ENDPOINTS
from mailqueue.api.compat.sendgrid.messages import ACTIVITY_ENDPOINTS
from mailqueue.api.compat.sendgrid.model import SendGridMail
from mailqueue.api.compat.sendgrid.scheduled import SCHEDULED_ENDPOINTS
from mailqueue.api.compat.sendgrid.statistics import STATISTICS_ENDPOINTS
from mailqueue.api.compat.sendgrid.suppressions import SUPPRESSION_ENDPOINTS, refuse_subuser
from mailqueue.api.compat.sendgrid.templates import TEMPLATE_ENDPOINTS
from mailqueue.api.compat.sendgrid.tracking import TRACKING_ENDPOINTS
from mailqueue.api.compat.sendgrid.webhooks import WEBHOOK_ENDPOINTS
from mailqueue.api.http.auth import bearer_key
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.requests.body import check_type, headers_by_name
from mailqueue.api.http.responses import BadJson, json_bytes_answer
from mailqueue.api.http.validation import validated
from mailqueue.contract.sending import Sent
from mailqueue.core.errors import Unauthorized

BODY_BYTES = 30 * 1024 * 1024
MAX_KEY_CHARACTERS = 200


async def send(call: RequestContext) -> Response:
    """Accept a mail for each personalization, all or none; in sandbox mode only validate them."""
    refuse_subuser(call.request)
    check_type(call.request)
    document = await document_of(call, max_bytes=BODY_BYTES)
    mail = await call.in_turn(lambda: _checked(document, call.values))
    key = _idempotency_key(call)
    try:
        wanted = await call.in_turn(lambda: mails_of(mail, key))
        if mail.is_sandboxed:
            await validate_together(call, wanted)
            return _empty(HTTPStatus.OK)
        sent = await accept_together(call, wanted)
    except OneRefused as exc:
        raise located(mail, exc) from None
    return _empty(HTTPStatus.ACCEPTED, sent[0])


def _checked(document: Any, values: int) -> SendGridMail:
    mail = _mail(document, values)
    check(mail, datetime.now(UTC))
    return mail


def _mail(document: Any, values: int) -> SendGridMail:
    if not isinstance(document, dict):
        raise BadJson("the body must be a JSON object")
    given = {name: value for name, value in document.items() if value is not None}
    try:
        return validated(SendGridMail, given, values)
    except ValidationError as exc:
        raise invalid_document(exc) from None


def _empty(status: HTTPStatus, sent: Sent | None = None) -> Response:
    """Return an empty response; X-Message-Id is the id of the mail, of several that of the
    first.
    """
    headers = {} if sent is None else {"X-Message-Id": str(sent.id)}
    return json_bytes_answer(b"", status=status, headers=headers, content_type="text/plain")


def _idempotency_key(call: RequestContext) -> str | None:
    key = call.idempotency_key
    if key is not None and not 1 <= len(key) <= MAX_KEY_CHARACTERS:
        why = f"An Idempotency-Key has 1 to {MAX_KEY_CHARACTERS} characters."
        raise SendGridRefused([Wrong(why)])
    return key


def key_of(request: Request) -> str:
    """Return the API key of `Authorization: Bearer`.

    Raises:
        Unauthorized: there is none.
    """
    key = bearer_key(request)
    if not key:
        raise Unauthorized("an API key is needed: Authorization: Bearer")
    return key


def is_sendgrids(request: Request) -> bool:
    """Return whether a request is one of SendGrid's clients: path of version 3 and form of the key.
    Pure.
    """
    is_bearer = headers_by_name(request).get(b"authorization", b"")[:7].lower() == b"bearer "
    return is_bearer and request.scope["path"].startswith("/v3/")


SENDGRID = CompatApi(
    name="sendgrid",
    endpoints=(
        sending_endpoint("/v3/mail/send", "Send up to 1,000 emails.", send),
        *GROUP_ENDPOINTS,  # before the addresses of a group, of which `search` is none
        *SUPPRESSION_ENDPOINTS,
        *SCHEDULED_ENDPOINTS,
        *WEBHOOK_ENDPOINTS,
        *TEMPLATE_ENDPOINTS,
        *KEY_ENDPOINTS,
        *STATISTICS_ENDPOINTS,
        *BREAKDOWN_ENDPOINTS,
        *DOMAIN_ENDPOINTS,
        *TRACKING_ENDPOINTS,
        *ACTIVITY_ENDPOINTS,
        *CONTACT_ENDPOINTS,
        *LIST_ENDPOINTS,
        *SENDER_ENDPOINTS,
        *SINGLE_SEND_ENDPOINTS,
        *SINGLE_SEND_STATS_ENDPOINTS,
        *FIELD_ENDPOINTS,
        *SEGMENT_ENDPOINTS,
        *TRIAL_ENDPOINTS,
    ),
    credential_of=key_of,
    refused=refused,
    roots=(
        *("/v3/mail", "/v3/suppression", "/v3/asm", "/v3/user", "/v3/templates"),
        *(
            "/v3/api_keys",
            "/v3/scopes",
            "/v3/stats",
            "/v3/geo",
            "/v3/devices",
            "/v3/clients",
            "/v3/browsers",
            "/v3/mailbox_providers",
            "/v3/categories",
            "/v3/whitelabel",
            "/v3/messages",
            "/v3/tracking_settings",
            "/v3/marketing",
            "/v3/senders",
            "/v3/verified_senders",
        ),
    ),
    is_known_by_head=is_sendgrids,
    rates=rates,
)
