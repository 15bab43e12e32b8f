"""Webhooks in the formats of providers, read by the unmodified views of django-anymail and by the
verifiers of the providers' own libraries.
"""

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import django
import pytest
import resend
from anymail.message import AnymailMessage
from django.conf import settings
from sendgrid.helpers.eventwebhook import EventWebhook

from mailqueue.webhooks.formats.registry import FORMATS
from tests.adapters.sending.fake import Fake, FakeReply, fake
from tests.clients.hooked import (
    AGENT,
    LINK,
    LOGIN,
    REASON,
    TO,
    VENDORS,
    Hooked,
    Vendor,
    added,
    read,
    sent_by,
    stored_id,
)
from tests.clients.serving import Served

pytestmark = pytest.mark.filterwarnings(
    "ignore::anymail.exceptions.AnymailNotSupportedWarning",
    "ignore::anymail.exceptions.AnymailInsecureWebhookWarning",
)


@pytest.fixture(scope="module", autouse=True)
def configured() -> None:
    if not settings.configured:
        settings.configure(INSTALLED_APPS=["anymail"], ANYMAIL={}, USE_TZ=True)
        django.setup()


@pytest.fixture
def hooked(site: Served, request: pytest.FixtureRequest) -> Iterator[Hooked]:
    """A webhook in the format of the vendor that the test names."""
    vendor: Vendor = request.getfixturevalue("vendor")
    receiver = fake([FakeReply(200)])
    server = site.run(_entered(receiver))
    site.rows("DELETE FROM mailqueue.webhooks RETURNING 1")
    made = site.run(added(site, vendor.name, server.port))
    try:
        yield Hooked(site, made, server)
    finally:
        site.run(_left(receiver))


async def _entered(receiver: Any) -> Fake:
    entered: Fake = await receiver.__aenter__()
    return entered


async def _left(receiver: Any) -> None:
    await receiver.__aexit__(None, None, None)


@pytest.mark.parametrize("vendor", VENDORS.values(), ids=list(VENDORS))
def test_the_views_of_anymail_read_every_event(
    site: Served, vendor: Vendor, hooked: Hooked
) -> None:
    """After a real send by its own backend: type, message id, recipient, reason, tags, metadata."""
    mail = sent_by(vendor, site)
    kinds = [kind for kind in vendor.events if kind != "queued"]

    requests = hooked.deliver(stored_id(site), kinds, len(vendor.events))

    view = vendor.view(hooked.made)
    events = []
    for request in requests:
        status, heard = read(view, request)
        assert status == 200
        events += heard
    assert len(events) == len(vendor.events)
    found = sorted((one.event_type, one.reject_reason or "") for one in events)
    assert found == sorted((kind, why or "") for kind, why in vendor.events.values())
    for one in events:
        assert one.message_id == mail.anymail_status.message_id
        assert (one.recipient, one.tags) == (TO, ["welcome"])
        assert one.metadata == {"order": "81"}
        if one.event_type not in ("opened", "clicked") or vendor.name != "postmark":
            assert one.timestamp is not None
    (click,) = [one for one in events if one.event_type == "clicked"]
    assert (click.click_url, click.user_agent) == (LINK, AGENT)
    (bounce, *_) = [one for one in events if one.event_type == "bounced"]
    assert REASON in f"{bounce.mta_response} {bounce.description}"
    if vendor.name != "postmark":
        assert len({one.event_id for one in events}) == len(events)


@pytest.mark.parametrize("vendor", VENDORS.values(), ids=list(VENDORS))
def test_a_view_refuses_what_another_key_signed(
    site: Served, vendor: Vendor, hooked: Hooked
) -> None:
    sent_by(vendor, site)
    (request, *_) = hooked.deliver(stored_id(site), ["hard_bounce"], 1)
    other = site.run(added(site, vendor.name, hooked.receiver.port))

    assert read(vendor.view(hooked.made), request)[0] == 200
    if vendor.name == "postmark":  # both have the user name and password of the URL
        request.headers["authorization"] = "Basic aG9va3M6d3Jvbmc="  # type: ignore[index]
        other = hooked.made
    with pytest.raises(Exception, match=r"webhook|signature|basic auth"):
        read(vendor.view(other), request)


@pytest.mark.parametrize("vendor", [VENDORS["resend"]], ids=["resend"])
def test_the_library_of_resend_verifies_its_format(
    site: Served, vendor: Vendor, hooked: Hooked
) -> None:
    sent_by(vendor, site)
    (request,) = hooked.deliver(stored_id(site), ["hard_bounce"], 1)

    event = resend.Webhooks.verify(
        {
            "payload": request.body.decode(),
            "headers": {
                "id": request.headers["svix-id"],
                "timestamp": request.headers["svix-timestamp"],
                "signature": request.headers["svix-signature"],
            },
            "webhook_secret": hooked.made.secret.reveal(),
        }
    )

    assert event is None or event["type"] == "email.bounced"
    data = request.json["data"]
    assert (data["bounce"]["type"], data["to"]) == ("Permanent", [TO])
    assert (data["subject"], data["from"]) == ("Your order", "Acme <from@example.com>")


@pytest.mark.parametrize("vendor", [VENDORS["sendgrid"]], ids=["sendgrid"])
def test_the_library_of_sendgrid_verifies_its_format(
    site: Served, vendor: Vendor, hooked: Hooked
) -> None:
    sent_by(vendor, site)
    (request, *_) = hooked.deliver(stored_id(site), ["hard_bounce"], 1)

    verifier = EventWebhook(hooked.made.webhook.public_key)
    signature = request.headers["x-twilio-email-event-webhook-signature"]
    at = request.headers["x-twilio-email-event-webhook-timestamp"]
    assert verifier.verify_signature(request.body.decode(), signature, at)
    assert not verifier.verify_signature(request.body.decode() + " ", signature, at)


@pytest.mark.parametrize("vendor", [VENDORS["postmark"]], ids=["postmark"])
def test_the_login_of_a_url_is_sealed_and_sent(
    site: Served, vendor: Vendor, hooked: Hooked
) -> None:
    sent_by(vendor, site)
    (request,) = hooked.deliver(stored_id(site), ["delivered"], 1)

    assert hooked.made.secret.reveal() == LOGIN
    assert LOGIN not in hooked.made.webhook.url
    assert request.headers["authorization"] == "Basic aG9va3M6czNjcmV0"
    ((logged, row),) = site.rows(
        "SELECT a.request_headers::text, to_jsonb(w)::text FROM mailqueue.webhook_attempts AS a"
        " JOIN mailqueue.webhooks AS w ON w.id = a.webhook_id"
    )
    assert "authorization" not in logged
    assert "s3cret" not in row


@pytest.mark.parametrize("vendor", [VENDORS["sendgrid"]], ids=["sendgrid"])
def test_mails_of_one_request_have_the_id_that_it_was_answered_with(
    site: Served, vendor: Vendor, hooked: Hooked
) -> None:
    """SendGrid answers several personalizations with one X-Message-Id."""
    mail = AnymailMessage(
        "Your order",
        "Hello",
        "from@example.com",
        ["ann@example.org", "bo@example.org"],
        connection=vendor.backend(site),
        merge_data={},
    )
    mail.send()
    answered = mail.anymail_status.esp_response.headers["X-Message-Id"]

    requests = hooked.deliver(stored_id(site), ["delivered"], 3)

    elements = [one for request in requests for one in json.loads(request.body)]
    assert {one["event"] for one in elements} == {"processed", "delivered"}
    assert {one["sg_message_id"].partition(".")[0] for one in elements} == {answered}


@pytest.mark.parametrize("vendor", [VENDORS["mailgun"]], ids=["mailgun"])
def test_an_email_that_bounced_is_not_also_told_as_failed(
    site: Served, vendor: Vendor, hooked: Hooked
) -> None:
    """A refused email has two events here, and one at a provider."""
    sent_by(vendor, site)
    email_id = stored_id(site)
    site.rows(
        "INSERT INTO mailqueue.email_events (project_id, email_id, type, recipient_email, detail)"
        " SELECT project_id, id, 'hard_bounce', recipient_email, '550 5.1.1 no such user'"
        " FROM mailqueue.email_queue WHERE id = %s RETURNING 1",
        UUID(email_id),
    )

    hooked.deliver(email_id, ["failed"], 2)

    names = [one.json["event-data"]["event"] for one in hooked.receiver.requests]
    assert sorted(names) == ["accepted", "failed"]
    states = site.rows(
        "SELECT d.type, d.status, (SELECT count(*) FROM mailqueue.webhook_attempts AS a"
        " WHERE a.delivery_id = d.id) FROM mailqueue.webhook_deliveries AS d"
        " WHERE d.webhook_id = %s AND d.type = 'email.failed'",
        hooked.made.webhook.id,
    )
    assert states == [("email.failed", "delivered", 0)]


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_says_which_events_it_has(form: str) -> None:
    known = {kind.removeprefix("email.") for kind in FORMATS[form].types}

    assert known - {"failed"} == set(VENDORS[form].events) if form in VENDORS else known
