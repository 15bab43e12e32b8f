"""Mailgun's API: POST /v3/{domain}/messages and messages.mime."""

import base64
import binascii
from dataclasses import replace
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response

from mailqueue.api.compat.batch import accept_together
from mailqueue.api.compat.mailboxes import split_mailbox
from mailqueue.api.compat.mailgun import store as mailgun_store
from mailqueue.api.compat.mailgun.api_keys import API_KEY_ENDPOINTS
from mailqueue.api.compat.mailgun.clearing import CLEARING_ENDPOINTS
from mailqueue.api.compat.mailgun.counts.account import ACCOUNT_TAG_ENDPOINTS
from mailqueue.api.compat.mailgun.counts.described import DESCRIPTION_ENDPOINTS
from mailqueue.api.compat.mailgun.counts.logs import LOG_ENDPOINTS
from mailqueue.api.compat.mailgun.counts.metrics import METRIC_ENDPOINTS
from mailqueue.api.compat.mailgun.counts.tags import TAG_ENDPOINTS
from mailqueue.api.compat.mailgun.counts.totals import STATISTICS_ENDPOINTS
from mailqueue.api.compat.mailgun.domain_changes import DOMAIN_CHANGE_ENDPOINTS
from mailqueue.api.compat.mailgun.domains import DOMAIN_ENDPOINTS, check_domain
from mailqueue.api.compat.mailgun.events import EVENT_ENDPOINTS
from mailqueue.api.compat.mailgun.faults import refused
from mailqueue.api.compat.mailgun.form import form_of
from mailqueue.api.compat.mailgun.imports import IMPORT_ENDPOINTS
from mailqueue.api.compat.mailgun.mailing_lists.lists import LIST_ENDPOINTS, check_no_list
from mailqueue.api.compat.mailgun.mailing_lists.members import MEMBER_ENDPOINTS
from mailqueue.api.compat.mailgun.mails import mails_of, parse_request
from mailqueue.api.compat.mailgun.managed.credentials import CREDENTIAL_ENDPOINTS
from mailqueue.api.compat.mailgun.managed.dkim_keys import DKIM_KEY_ENDPOINTS
from mailqueue.api.compat.mailgun.managed.settings import DOMAIN_SETTING_ENDPOINTS
from mailqueue.api.compat.mailgun.mime import accepted_message
from mailqueue.api.compat.mailgun.options import MailgunOptions, options_of
from mailqueue.api.compat.mailgun.suppressions import SUPPRESSION_ENDPOINTS
from mailqueue.api.compat.mailgun.template_tags import version_named
from mailqueue.api.compat.mailgun.templates import TEMPLATE_ENDPOINTS
from mailqueue.api.compat.mailgun.tracking import TRACKING_ENDPOINTS
from mailqueue.api.compat.mailgun.webhooks import WEBHOOK_ENDPOINTS
from mailqueue.api.compat.model import CompatApi, sending_endpoint
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.requests.body import headers_by_name
from mailqueue.api.http.responses import json_answer
from mailqueue.contract.sending import Sent
from mailqueue.core.address import parse_address
from mailqueue.core.errors import InvalidField, Unauthorized
from mailqueue.mime.compose import message_id

MAX_KEY_CHARACTERS = 200


async def send(call: RequestContext) -> Response:
    """Accept one mail, or one for each recipient with variables; all or none."""
    await check_domain(call)
    form = await form_of(call)
    await check_no_list(call, form)
    options = await _options(call, options_of(form, datetime.now(UTC)))
    meant = parse_request(form, options)
    if meant.template is not None:
        version = await version_named(call, meant.template, meant.version)
        meant = replace(meant, version=version)
    sent = await accept_together(call, mails_of(meant, _key(call)))
    return _queued(_message_id(sent[0], meant.sender))


async def send_mime(call: RequestContext) -> Response:
    """Accept a finished message."""
    await check_domain(call)
    form = await form_of(call)
    await check_no_list(call, form)
    options = await _options(call, options_of(form, datetime.now(UTC)))
    return _queued(await accepted_message(call, form, options, _key(call)))


def _queued(mail_id: str) -> Response:
    return json_answer({"id": mail_id, "message": "Queued. Thank you."})


def _message_id(sent: Sent, sender: str) -> str:
    """Return the Message-ID of the mail; of several, that of the first."""
    return message_id(sent.id, parse_address(split_mailbox(sender)[1]).domain)


async def _options(call: RequestContext, options: MailgunOptions) -> MailgunOptions:
    """Return the options, with the trap as sender for mail in test mode.

    Raises:
        InvalidField: there is no trap.
    """
    if not options.is_test:
        return options
    async with call.connection() as conn:
        found = await mailgun_store.sending_rights_of(conn, call.caller.project_id)
    if found is None or found.trap is None:
        raise InvalidField("o:testmode", "this project has no trap, to which test mail is sent")
    return replace(options, fields=options.fields | {"smtp_config_id": found.trap})


def _key(call: RequestContext) -> str | None:
    key = call.idempotency_key
    if key is not None and not 1 <= len(key) <= MAX_KEY_CHARACTERS:
        raise InvalidField("Idempotency-Key", f"must be 1 to {MAX_KEY_CHARACTERS} characters")
    return key


def key_of(request: Request) -> str:
    """Return the API key, which is the password of user `api`.

    Raises:
        Unauthorized: there is none.
    """
    given = headers_by_name(request).get(b"authorization", b"")
    scheme, _, coded = given.partition(b" ")
    try:
        pair = base64.b64decode(coded.strip(), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        pair = ""
    user, _, key = pair.partition(":")
    if scheme.lower() != b"basic" or user != "api" or not key:
        raise Unauthorized("an API key is needed: user api, the key as its password")
    return key


def is_mailguns(request: Request) -> bool:
    """Return whether a request is one of Mailgun's clients: its user is `api`. Pure."""
    given = headers_by_name(request).get(b"authorization", b"")
    return given[:6].lower() == b"basic " and given[6:].strip()[:5] == b"YXBpO"


MAILGUN = CompatApi(
    name="mailgun",
    endpoints=(
        sending_endpoint("/v3/{domain}/messages", "Send an email.", send),
        sending_endpoint("/v3/{domain}/messages.mime", "Send a finished message.", send_mime),
        *DOMAIN_ENDPOINTS,
        *DOMAIN_CHANGE_ENDPOINTS,
        *DOMAIN_SETTING_ENDPOINTS,
        *DKIM_KEY_ENDPOINTS,
        *TRACKING_ENDPOINTS,
        *API_KEY_ENDPOINTS,
        *CREDENTIAL_ENDPOINTS,
        *EVENT_ENDPOINTS,
        *IMPORT_ENDPOINTS,
        *SUPPRESSION_ENDPOINTS,
        *CLEARING_ENDPOINTS,
        *WEBHOOK_ENDPOINTS,
        *TEMPLATE_ENDPOINTS,
        *STATISTICS_ENDPOINTS,
        *METRIC_ENDPOINTS,
        *TAG_ENDPOINTS,
        *DESCRIPTION_ENDPOINTS,
        *ACCOUNT_TAG_ENDPOINTS,
        *LOG_ENDPOINTS,
        *LIST_ENDPOINTS,
        *MEMBER_ENDPOINTS,
    ),
    credential_of=key_of,
    refused=refused,
    roots=(),
    is_known_by_head=is_mailguns,
)
