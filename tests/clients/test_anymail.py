"""django-anymail, unmodified, with its Resend and Postmark backends pointed at our server."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import django
import pytest
from anymail.exceptions import AnymailRecipientsRefused, AnymailRequestsAPIError
from anymail.message import AnymailMessage, attach_inline_image
from django.conf import settings
from django.core.mail import get_connection

from tests.clients.serving import PDF, Served

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module", autouse=True)
def configured() -> None:
    if not settings.configured:
        settings.configure(INSTALLED_APPS=["anymail"], ANYMAIL={}, USE_TZ=True)
        django.setup()


@pytest.fixture
def resend(site: Served) -> Any:
    return get_connection(
        "anymail.backends.resend.EmailBackend", api_key=site.keys.live, api_url=site.url
    )


@pytest.fixture
def postmark(site: Served) -> Any:
    return get_connection(
        "anymail.backends.postmark.EmailBackend", server_token=site.keys.live, api_url=site.url
    )


@pytest.fixture(scope="module")
def gone(site: Served) -> str:
    site.suppress("gone@example.org")
    return "Gone@example.org"


def message(connection: Any, **fields: Any) -> AnymailMessage:
    given: dict[str, Any] = {
        "subject": "Ünlü",
        "body": "Hello",
        "from_email": "Ännä Bo <from@example.com>",
        "to": ["Jürgen <to@example.org>"],
        "connection": connection,
    }
    return AnymailMessage(**given | fields)


def statuses(sent: AnymailMessage) -> dict[str, str]:
    return {address: one.status for address, one in sent.anymail_status.recipients.items()}


@pytest.mark.parametrize("backend", ["resend", "postmark"])
def test_a_message_of_django_is_queued(
    site: Served, backend: str, request: pytest.FixtureRequest
) -> None:
    mail = message(
        request.getfixturevalue(backend),
        cc=["cc@example.org"],
        bcc=["bcc@example.org"],
        reply_to=["reply@example.com"],
        headers={"X-Order": "81"},
    )
    mail.attach_alternative("<p>Hello</p>", "text/html")
    mail.attach("bill.pdf", PDF, "application/pdf")
    mail.attach("notes.txt", "notes", "text/plain")
    cid = attach_inline_image(mail, PNG, "logo.png")

    assert mail.send() == 1

    found = site.email(mail.anymail_status.message_id)
    assert (found["subject"], found["text"], found["html"]) == ("Ünlü", "Hello", "<p>Hello</p>")
    assert (found["from_name"], found["from_email"]) == ("Ännä Bo", "from@example.com")
    assert found["recipients"] == [
        ["to", "to@example.org", "Jürgen"],
        ["cc", "cc@example.org", None],
        ["bcc", "bcc@example.org", None],
    ]
    assert (found["reply_to"], found["headers"]) == ("reply@example.com", {"X-Order": "81"})
    assert [(one["name"], one.get("cid")) for one in found["files"]] == [
        ("bill.pdf", None),
        ("notes.txt", None),
        ("logo.png", cid),
    ]
    assert set(statuses(mail)) == {"to@example.org", "cc@example.org", "bcc@example.org"}


def test_resend_tags_metadata_and_time_are_kept(site: Served, resend: Any) -> None:
    at = datetime.now(UTC) + timedelta(hours=1)
    mail = message(resend, tags=["welcome"], metadata={"order": "81"}, send_at=at)
    mail.send()

    found = site.email(mail.anymail_status.message_id)
    assert json.loads(found["headers"]["X-Tags"]) == ["welcome"]
    assert json.loads(found["headers"]["X-Metadata"]) == {"order": "81"}
    assert abs(datetime.fromisoformat(found["run_at"]) - at) < timedelta(milliseconds=2)
    assert mail.anymail_status.status == {"queued"}


def test_resend_writes_to_each_by_itself(site: Served, resend: Any) -> None:
    mail = message(
        resend,
        to=["ann@example.org", "Bo <bo@example.org>"],
        merge_data={},
        metadata={"all": "1"},
        merge_metadata={"bo@example.org": {"one": "2"}},
        merge_headers={"ann@example.org": {"X-One": "Ann"}},
    )
    mail.send()

    ids = {a: one.message_id for a, one in mail.anymail_status.recipients.items()}
    ann, bo = (site.email(ids[each]) for each in ("ann@example.org", "bo@example.org"))
    assert (ann["to"], bo["to"], bo["name"]) == ("ann@example.org", "bo@example.org", "Bo")
    assert ann["headers"]["X-One"] == "Ann"
    assert json.loads(bo["headers"]["X-Metadata"]) == {"all": "1", "one": "2"}


def test_postmark_tags_metadata_and_stream_are_kept(site: Served, postmark: Any) -> None:
    mail = message(
        postmark,
        tags=["welcome"],
        metadata={"order": "81"},
        track_opens=True,
        track_clicks=True,
        esp_extra={"MessageStream": "broadcast"},
    )
    mail.attach_alternative("<p><a href='https://example.com/'>Hello</a></p>", "text/html")
    mail.send()

    found = site.email(mail.anymail_status.message_id)
    assert (found["tags"], found["category"]) == (["welcome"], "marketing")
    assert found["tracking_options"] == 3, "opens and clicks"
    assert found["custom_data"] == {"postmark_metadata": {"order": "81"}}
    assert statuses(mail) == {"to@example.org": "sent"}


def test_postmark_merges_a_template_for_each(site: Served, postmark: Any) -> None:
    site.add_template("welcome", subject="Hi {{ name }}", html="<p>{{ shop }}</p>")
    one = message(
        postmark,
        subject="",
        body="",
        template_id="welcome",
        merge_global_data={
            "name": "Ann",
            "shop": "Acme",
        },
    )
    one.send()
    many = message(
        postmark,
        subject="",
        body="",
        to=["ann@example.org", "bo@example.org"],
        template_id="welcome",
        merge_global_data={"shop": "Acme"},
        merge_data={"ann@example.org": {"name": "Ann"}, "bo@example.org": {"name": "Bo"}},
        merge_metadata={"bo@example.org": {"order": "2"}},
    )
    many.send()

    found = site.email(one.anymail_status.message_id)
    assert found["custom_data"]["variables"] == {"name": "Ann", "shop": "Acme"}
    bo = site.email(many.anymail_status.recipients["bo@example.org"].message_id)
    assert bo["custom_data"] == {
        "variables": {"name": "Bo", "shop": "Acme"},
        "postmark_metadata": {"order": "2"},
    }


def test_postmark_shows_pictures_in_a_template(site: Served, postmark: Any) -> None:
    site.add_template("picture", subject="Hi", html="<img src='cid:{{ logo }}'>", text="Hi")
    site.add_template("plain", subject="Hi", html=None, text="Hi {{ logo }}")
    mail = message(postmark, subject="", body="", template_id="picture")
    cid = attach_inline_image(mail, PNG, "logo.png")
    mail.merge_global_data = {"logo": cid}
    mail.send()

    assert site.email(mail.anymail_status.message_id)["files"][0]["cid"] == cid
    mail.template_id = "plain"
    with pytest.raises(AnymailRequestsAPIError, match="no html that shows it"):
        mail.send()


def test_postmark_tells_who_was_not_written_to(postmark: Any, gone: str) -> None:
    mail = message(postmark, to=["ann@example.org", gone])
    mail.send()

    assert statuses(mail) == {"ann@example.org": "sent", gone: "rejected"}
    for nobody in (gone, "nobody@example"):
        with pytest.raises(AnymailRecipientsRefused):
            message(postmark, to=[nobody]).send()


@pytest.fixture
def unknown(site: Served) -> list[Any]:
    return [
        get_connection("anymail.backends.resend.EmailBackend", api_key="re_1", api_url=site.url),
        get_connection(
            "anymail.backends.postmark.EmailBackend", server_token="1", api_url=site.url
        ),
    ]


def test_errors_are_anymails_own(resend: Any, postmark: Any, unknown: list[Any]) -> None:
    for connection, status in (*((one, (401, 403)) for one in unknown), (resend, (422,))):
        bad = ["nobody@example"] if connection is resend else ["ann@example.org"]
        with pytest.raises(AnymailRequestsAPIError) as caught:
            message(connection, to=bad).send()
        assert caught.value.status_code in status
    with pytest.raises(AnymailRequestsAPIError) as caught:
        message(postmark, headers={"Message-ID": "<a@example.com>"}).send()
    assert "Message-ID" in str(caught.value)
