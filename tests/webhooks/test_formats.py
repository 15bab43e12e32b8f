"""Formats of providers: which events they have, and what a webhook with one may be given."""

import json
import re
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.webhooks import endpoints
from mailqueue.webhooks.acceptable import event_types_of, without_login
from mailqueue.webhooks.formats.model import FormattedEvent, UnsignedRequest, WebhookFormat
from mailqueue.webhooks.formats.registry import FORMATS, email_of, written
from mailqueue.webhooks.model import EmailFacts, EventType, WithSecret
from mailqueue.webhooks.signing import logged
from mailqueue.webhooks.values import created_webhook_of
from tests import make
from tests.rules.source import ROOT
from tests.webhooks.delivering import LOOPBACK, master

pytestmark = pytest.mark.anyio
VENDORS = tuple(form for form in FORMATS.values() if form.write is not None)
NOW = datetime(2026, 11, 20, 12, 34, 56, tzinfo=UTC)
EMAIL = UUID("0197b8f0-0000-7000-8000-000000000002")


def event(kind: EventType, *, facts: EmailFacts | None = None, **data: Any) -> FormattedEvent:
    given = {
        "email_id": str(EMAIL),
        "recipient": "ann@example.com",
        "category": "transactional",
        "tags": [],
        "custom_data": {},
    }
    return FormattedEvent(uuid4(), kind, NOW, given | data, facts)


def facts(**fields: Any) -> EmailFacts:
    given: dict[str, Any] = {
        "id": EMAIL,
        "first_id": EMAIL,
        "created_at": NOW,
        "from_email": "shop@example.com",
        "from_name": None,
        "subject": "Hi",
        "headers": None,
        "message_id": None,
        "recipients": [["to", "ann@example.com", None], ["cc", "bo@example.com", None]],
        "is_bounced": False,
    }
    return EmailFacts(**given | fields)


def document(form: WebhookFormat, one: FormattedEvent) -> Any:
    assert form.write is not None
    body = form.write(one)
    assert body is not None
    return json.loads(body)


def words_of(form: WebhookFormat, kind: EventType) -> list[str]:
    """Return the words by which a provider's programs tell an event."""
    found = document(form, event(kind))
    match form.name:
        case "resend":
            bounce = found["data"].get("bounce")
            return [found["type"], *([bounce["type"]] if bounce else [])]
        case "postmark":
            return [found["RecordType"], *([found["Type"]] if "Type" in found else [])]
        case "sendgrid":
            return [found[0]["event"], *([found[0]["type"]] if "type" in found[0] else [])]
        case _:
            more = [found[name] for name in ("severity", "reason") if name in found]
            return [found["event"], *more]


def test_the_page_has_every_event_of_every_format() -> None:
    page = (ROOT / "docs" / "webhooks.md").read_text("utf-8")
    lines = page[page.index("## Formats of providers") :].splitlines()
    header = next(line for line in lines if line.startswith("| Event |"))
    names = re.findall(r"`(\w+)`", header)
    rows = {
        EventType(found[1]): line.split("|")[2:-1]
        for line in lines
        if (found := re.match(r"\| `(email\.\w+)` \|", line))
    }

    assert names == [form.name for form in VENDORS]
    for kind, cells in rows.items():
        for form, cell in zip(VENDORS, cells, strict=True):
            if kind not in form.types:
                assert cell.strip() == "—", (kind, form.name)
                continue
            words = words_of(form, kind)
            assert re.findall(r"`([^`]+)`", cell)[: len(words)] == words
    assert set(rows) == {kind for form in VENDORS for kind in form.types}


@pytest.mark.parametrize("form", VENDORS, ids=lambda form: form.name)
def test_an_event_of_a_mail_that_is_gone_is_written_all_the_same(form: WebhookFormat) -> None:
    for kind in form.types:
        hostile = event(kind, tags=None, custom_data=["x"], recipient=None, reason=None)

        assert document(form, hostile)


@pytest.mark.parametrize("form", VENDORS, ids=lambda form: form.name)
def test_a_mail_that_bounced_has_no_second_event(form: WebhookFormat) -> None:
    if EventType.FAILED not in form.types:
        return
    assert form.write is not None

    assert form.write(event(EventType.FAILED, facts=facts())) is not None
    assert form.write(event(EventType.FAILED, facts=facts(is_bounced=True))) is None


def test_sendgrid_has_an_element_for_each_recipient_of_a_whole_mail() -> None:
    form = FORMATS["sendgrid"]

    queued = document(form, event(EventType.QUEUED, facts=facts()))
    delivered = document(form, event(EventType.DELIVERED, facts=facts()))

    assert [one["email"] for one in queued] == ["ann@example.com", "bo@example.com"]
    assert len({one["sg_event_id"] for one in queued}) == 2
    assert [one["email"] for one in delivered] == ["ann@example.com"]


def test_custom_arguments_do_not_replace_fields_of_sendgrid() -> None:
    given = {"custom_args": {"email": "eve@example.com", "event": "open", "order": "81"}}

    (found,) = document(FORMATS["sendgrid"], event(EventType.DELIVERED, custom_data=given))

    assert (found["email"], found["event"]) == ("ann@example.com", "delivered")
    assert found["order"] == "81"


def test_custom_data_of_our_own_api_is_metadata() -> None:
    given = {"order": 81, "paid": True, "lines": [1, 2]}

    found = document(FORMATS["postmark"], event(EventType.DELIVERED, custom_data=given))

    assert found["Metadata"] == {"order": "81", "paid": "true"}


def test_the_message_id_is_known_before_the_mail_is_sent() -> None:
    found = document(FORMATS["mailgun"], event(EventType.QUEUED, facts=facts()))

    assert found["message"]["headers"]["message-id"] == f"{EMAIL.hex}@example.com"


@pytest.mark.parametrize("form", FORMATS.values(), ids=lambda form: form.name)
def test_no_signature_or_password_is_logged(form: WebhookFormat) -> None:
    secret = form.make_secret()
    key = form.key_of(secret)

    headers, _ = form.sign(UnsignedRequest("id-1", b"{}", 1, [key]))

    assert not {name for name in logged(headers) if "signature" in name or "auth" in name}
    for name, value in headers:
        assert secret.reveal() not in value, name


@pytest.mark.parametrize("form", FORMATS.values(), ids=lambda form: form.name)
def test_a_payload_becomes_the_body(form: WebhookFormat) -> None:
    data = {"email_id": str(EMAIL), "recipient": "ann@example.com"}
    payload = json.dumps({"type": "email.delivered", "timestamp": NOW.isoformat(), "data": data})

    body = written(form, payload, event_id=uuid4())

    assert body is not None
    assert (body == payload.encode()) is (form.write is None)
    assert email_of(payload) == EMAIL
    for other in ('{"data": {"email_id": null}}', '{"data": {"email_id": "x"}}', "[]", "1"):
        assert email_of(other) is None


def test_types_that_a_format_lacks_are_refused() -> None:
    form = FORMATS["postmark"]

    assert event_types_of([], form) == sorted(form.types)
    assert event_types_of(["email.opened"], form) == ["email.opened"]
    with pytest.raises(InvalidField, match=r"format postmark has no type email\.sent"):
        event_types_of(["email.sent"], form)


@pytest.mark.parametrize(
    ("text", "url", "login"),
    [
        ("https://a:b@example.com/x?y=a@b", "https://example.com/x?y=a@b", "a:b"),
        ("https://a:p%40ss:w@example.com", "https://example.com", "a:p@ss:w"),
        ("https://example.com/a:b@c", "https://example.com/a:b@c", None),
        ("https://a@example.com/", "https://a@example.com/", None),
        ("a:b@example.com", "a:b@example.com", None),
    ],
)
def test_the_login_of_a_url(text: str, url: str, login: str | None) -> None:
    assert without_login(text) == (url, login)


async def added(conn: Conn, form: str, **options: Any) -> WithSecret:
    given: dict[str, Any] = {"url": "https://example.com/hooks", "event_types": []}
    return await endpoints.add(
        conn,
        await make.project_named(conn),
        **given | {"description": None, "secret": None} | options,
        allowed=LOOPBACK.allowed_networks,
        master=master(),
        by="tests",
        form=form,
    )


async def test_a_key_of_mailgun_is_kept(conn: Conn) -> None:
    made = await added(conn, "mailgun", secret="f" * 32)

    assert made.secret.reveal() == "f" * 32
    for short in ("f" * 15, "with a space in it", "ü" * 20):
        with pytest.raises(InvalidField, match="16 to 200"):
            await added(conn, "mailgun", secret=short)


async def test_a_private_key_is_never_shown(conn: Conn) -> None:
    made = await added(conn, "sendgrid")

    shown = created_webhook_of(made)
    assert (shown.secret, shown.webhook.format) == (None, "sendgrid")
    assert shown.webhook.public_key
    with pytest.raises(InvalidField, match="makes a key pair"):
        await added(conn, "sendgrid", secret="f" * 32)


async def test_a_password_in_the_url_belongs_to_postmark_only(conn: Conn) -> None:
    with pytest.raises(InvalidField, match="user name or password"):
        await added(conn, "resend", url="https://a:b@example.com/hooks")
    made = await added(conn, "postmark", url="https://a:b@example.com/hooks")
    assert (made.secret.reveal(), made.webhook.url) == ("a:b", "https://example.com/hooks")
    assert re.fullmatch(r"mailqueue:[\w-]{43}", (await added(conn, "postmark")).secret.reveal())


@pytest.mark.parametrize("form", FORMATS)
async def test_two_secrets_sign_where_a_request_has_room(conn: Conn, form: str) -> None:
    made = await added(conn, form)

    rotated = await endpoints.rotate(
        conn,
        made.webhook.project_id,
        made.webhook.id,
        secret=None,
        overlap=endpoints.DEFAULT_OVERLAP,
        master=master(),
        by="tests",
    )

    assert rotated.secret.reveal() != made.secret.reveal()
    assert (rotated.webhook.previous_until is not None) is FORMATS[form].signs_twice
    has_keys = FORMATS[form].public_key_of is not None
    assert (rotated.webhook.public_key != made.webhook.public_key) is has_keys


async def test_an_unknown_format_is_refused(conn: Conn) -> None:
    with pytest.raises(InvalidField, match="must be one of mailqueue, resend"):
        await added(conn, "sparkpost")
