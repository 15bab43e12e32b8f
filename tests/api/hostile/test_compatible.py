"""Naughty strings at each place of a request to the compatible APIs: no unexpected error."""

import base64
import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import httpx2
import pytest

from mailqueue.api.http.endpoint import Endpoint
from mailqueue.api.table import SHAPES
from tests.api.hostile.corpus import NAUGHTY_STRINGS
from tests.api.hostile.test_inputs import FORM, JSON, NO_ID, SHARE, places, replaced
from tests.api.support.anybody import for_anybody
from tests.api.support.modes import credentials

pytestmark = pytest.mark.anyio
HEADERS = {"X-Order": "81"}
FILE = base64.b64encode(b"hello").decode()
RESEND = {
    "from": "Shop <shop@example.com>",
    "to": ["ann@example.com"],
    "cc": ["bob@example.com"],
    "reply_to": "help@example.com",
    "subject": "Hello",
    "html": "<p>Hello</p>",
    "text": "Hello",
    "headers": HEADERS,
    "tags": [{"name": "kind", "value": "news"}],
    "attachments": [{"filename": "a.txt", "content": FILE}],
}
POSTMARK = {
    "From": "Shop <shop@example.com>",
    "To": "ann@example.com",
    "Cc": "bob@example.com",
    "ReplyTo": "help@example.com",
    "Subject": "Hello",
    "HtmlBody": "<p>Hello</p>",
    "TextBody": "Hello",
    "Tag": "news",
    "Metadata": {"order": "81"},
    "MessageStream": "outbound",
    "Headers": [{"Name": "X-Order", "Value": "81"}],
    "Attachments": [{"Name": "a.txt", "Content": FILE, "ContentType": "text/plain"}],
}
TEMPLATE = {
    "From": "Shop <shop@example.com>",
    "To": "ann@example.com",
    "TemplateAlias": "welcome",
    "TemplateModel": {"name": "Ann"},
}
SENDGRID = {
    "personalizations": [
        {
            "to": [{"email": "ann@example.com", "name": "Ann"}],
            "subject": "Hello",
            "headers": HEADERS,
            "substitutions": {"-name-": "Ann"},
            "custom_args": {"order": "81"},
        }
    ],
    "from": {"email": "shop@example.com", "name": "Shop"},
    "reply_to": {"email": "help@example.com", "name": "Help"},
    "content": [{"type": "text/plain", "value": "Hello"}],
    "categories": ["news"],
    "attachments": [{"content": FILE, "filename": "a.txt", "type": "text/plain"}],
}
MAILGUN = {
    "from": "Shop <shop@example.com>",
    "to": "ann@example.com",
    "cc": "bob@example.com",
    "subject": "Hello",
    "text": "Hello",
    "html": "<p>Hello</p>",
    "h:X-Order": "81",
    "v:order": "81",
    "o:tag": "news",
    "o:deliverytime": "Thu, 01 Jan 2026 00:00:00 +0000",
    "recipient-variables": '{"ann@example.com": {"name": "Ann"}}',
}
ENTRIES = {"Suppressions": [{"EmailAddress": "ann@example.com"}]}
EMAILS = {"emails": ["ann@example.com"]}
WEBHOOK = {"endpoint": "https://app.example.com/hooks", "events": ["email.sent"]}
POSTMARK_WEBHOOK = {
    "Url": "https://app.example.com/hooks",
    "HttpAuth": {"Username": "hooks", "Password": "s3cret"},
    "Triggers": {"Bounce": {"Enabled": True}},
}
SETTINGS = "/v3/user/webhooks/event/settings"
EVENT_WEBHOOK = {
    "enabled": True,
    "url": "https://app.example.com/hooks",
    "friendly_name": "Shop",
    "bounce": True,
}
EVENTS_OF_URL = {"url": "https://app.example.com/", "event_types": "clicked"}
POSTMARK_TEMPLATE = {
    "Name": "Receipt",
    "Alias": "receipt",
    "Subject": "Order {{order.id}}",
    "HtmlBody": "<p>Hello {{name}}</p>",
    "TextBody": "{{#each lines}}{{sku}}{{/each}}",
}
DYNAMIC_VERSION = {
    "name": "First",
    "subject": "Order {{id}}",
    "html_content": "<p>Hello {{name}}</p>",
    "plain_content": "{{#each lines}}{{sku}}{{/each}}",
}
BODIES: dict[str, Any] = {
    "POST /emails": RESEND,
    "POST /emails/batch": [RESEND],
    "PATCH /emails/{email_id}": {"scheduled_at": "2030-01-01T00:00:00Z"},
    "POST /email": POSTMARK,
    "POST /email/batch": [POSTMARK],
    "POST /email/withTemplate": TEMPLATE,
    "POST /email/batchWithTemplates": {"Messages": [TEMPLATE]},
    "POST /v3/mail/send": SENDGRID,
    "POST /v3/{domain}/messages": MAILGUN,
    "POST /domains": {"name": "news.example.com", "region": "us-east-1"},
    "POST /suppressions": {"email": "ann@example.com"},
    "POST /suppressions/batch/add": {"emails": ["ann@example.com"]},
    "POST /suppressions/batch/remove": {"emails": ["ann@example.com"]},
    "resend: POST /webhooks": WEBHOOK,
    "postmark: POST /webhooks": POSTMARK_WEBHOOK,
    "PUT /webhooks/{webhook_number}": POSTMARK_WEBHOOK,
    "POST /templates": POSTMARK_TEMPLATE,
    "PUT /templates/{template}": POSTMARK_TEMPLATE,
    "PATCH /webhooks/{webhook_id}": {**WEBHOOK, "status": "disabled"},
    "POST /message-streams/{stream}/suppressions": ENTRIES,
    "POST /message-streams/{stream}/suppressions/delete": ENTRIES,
    f"POST {SETTINGS}": EVENT_WEBHOOK,
    f"PATCH {SETTINGS}": EVENT_WEBHOOK,
    f"PATCH {SETTINGS}/{{webhook_id}}": EVENT_WEBHOOK,
    f"PATCH {SETTINGS}/signed/{{webhook_id}}": {"enabled": True},
    "POST /v3/user/webhooks/event/test": {"url": "https://no.example.com/hooks"},
    "POST /v3/templates": {"name": "Order received", "generation": "dynamic"},
    "PATCH /v3/templates/{template_id}": {"name": "Order received"},
    "POST /v3/templates/{template_id}": {"name": "Copy"},
    "POST /v3/templates/{template_id}/versions": DYNAMIC_VERSION,
    "PATCH /v3/templates/{template_id}/versions/{version_id}": DYNAMIC_VERSION,
    "DELETE /v3/suppression/bounces": EMAILS,
    "DELETE /v3/suppression/spam_reports": EMAILS,
    "DELETE /v3/suppression/blocks": EMAILS,
    "DELETE /v3/suppression/invalid_emails": EMAILS,
    "POST /v3/asm/suppressions/global": {"recipient_emails": ["ann@example.com"]},
    "POST /v3/asm/groups/{group_id}/suppressions": {"recipient_emails": ["ann@example.com"]},
    "POST /v3/domains/{domain}/webhooks": {"id": "clicked", "url": "https://app.example.com/"},
    "PUT /v3/domains/{domain}/webhooks/{event}": {"url": "https://app.example.com/"},
    "POST /v4/domains/{domain}/webhooks": EVENTS_OF_URL,
    "PUT /v4/domains/{domain}/webhooks": EVENTS_OF_URL,
    "POST /v3/{domain}/bounces": {"address": "a@example.com", "code": "550", "error": "no"},
    "POST /v3/{domain}/complaints": {"address": "a@example.com"},
    "POST /v3/{domain}/unsubscribes": {"address": "a@example.com", "tag": "*"},
    "POST /v3/{domain}/messages.mime": {"to": "ann@example.com", "message": "Subject: a\r\n\r\nb"},
}
"""A body of each endpoint that takes one, which names every kind of field."""
SHARED = {"POST /webhooks", "GET /webhooks"}
"""Requests of several APIs; the credential tells whose they are."""
WITHOUT_BODY = {
    "POST /emails/{email_id}/cancel",
    "PUT /bounces/{bounce_id}/activate",
    f"PATCH {SETTINGS}/signed",
    "POST /domains/{domain_id}/verify",
    "POST /v3/templates/{template_id}/versions/{version_id}/activate",
}


@dataclass(frozen=True, slots=True)
class CompatEndpoint:
    """An endpoint of a compatible API."""

    api: str
    endpoint: Endpoint

    @property
    def name(self) -> str:
        name = f"{self.endpoint.method} {self.endpoint.path}"
        return f"{self.api}: {name}" if name in SHARED else name

    def url(self, **values: str) -> str:
        given = {"domain": "example.com", **values}
        return re.sub(
            r"{(\w+)}",
            lambda found: quote(given.get(found[1], NO_ID), safe=""),
            self.endpoint.path,
        )


ALL = [CompatEndpoint(shape.name, each) for shape in SHAPES for each in shape.endpoints]
WITH_PLACES = [one for one in ALL if one.name in BODIES or "{" in one.endpoint.path]


@pytest.fixture(scope="module")
async def http(module_db: str) -> AsyncIterator[httpx2.AsyncClient]:
    async with for_anybody(module_db) as client:
        yield client


def requests(
    one: CompatEndpoint, strings: Sequence[str]
) -> Iterator[tuple[str, bytes, dict[str, str]]]:
    """Yield requests in which one string after another is replaced by a naughty string."""
    body: Any = BODIES.get(one.name)
    in_path = re.findall(r"{(\w+)}", one.endpoint.path)
    turns = [*(("body", at) for at in places(body)), *(("path", (name,)) for name in in_path)]
    for number, text in enumerate(strings):
        part, at = turns[number % len(turns)]
        url = one.url(**({str(at[0]): text} if part == "path" else {}))
        changed = replaced(body, at, text) if part == "body" else body
        if body is None:
            yield url, b"", {}
        elif one.api == "mailgun":
            yield url, urlencode(changed).encode(), FORM
        else:
            yield url, json.dumps(changed).encode(), JSON


async def asked(http: httpx2.AsyncClient, one: CompatEndpoint, strings: Sequence[str]) -> None:
    key = http.headers["X-API-Key"]
    who = {"X-API-Key": "", **credentials(one.api, key)}
    for url, body, kind in requests(one, strings):
        answer = await http.request(one.endpoint.method, url, content=body, headers=kind | who)
        at = f"{one.endpoint.method} {url} with {body!r}"
        assert answer.status_code != 401, at
        assert answer.status_code < 500, f"{at}: {answer.text[:500]}"
        if answer.status_code >= 400:
            assert answer.json(), at


def test_each_endpoint_that_takes_a_body_has_one_here() -> None:
    writing = {one.name for one in ALL if one.endpoint.method in ("POST", "PUT", "PATCH")}
    assert writing - WITHOUT_BODY <= set(BODIES) <= {one.name for one in ALL}


@pytest.mark.parametrize("one", WITH_PLACES, ids=lambda one: one.name)
async def test_naughty_strings(http: httpx2.AsyncClient, one: CompatEndpoint) -> None:
    await asked(http, one, NAUGHTY_STRINGS[WITH_PLACES.index(one) % SHARE :: SHARE])


@pytest.mark.soak
@pytest.mark.parametrize("one", WITH_PLACES, ids=lambda one: one.name)
async def test_all_naughty_strings_everywhere(
    http: httpx2.AsyncClient, one: CompatEndpoint
) -> None:
    for first in range(SHARE):  # so that each place has each string, where there are few places
        await asked(http, one, NAUGHTY_STRINGS[first:] + NAUGHTY_STRINGS[:first])
