"""The published Python library of Resend, unmodified, against our server."""

import asyncio
import base64
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
import requests
import resend
from resend.exceptions import (
    MissingRequiredFieldsError,
    ResendError,
    ValidationError,
)

from tests.clients.resend.mails import HELLO, hello, refused
from tests.clients.serving import PDF, Served

pytestmark = pytest.mark.usefixtures("resend_here")


def test_everything_a_mail_can_say_is_queued(site: Served) -> None:
    sent = resend.Emails.send(
        hello(
            to=["Ann <ann@example.org>", '"Lee, Bo" <bo@example.org>'],
            cc="carl@example.org",
            bcc=["dora@example.org"],
            reply_to=['"Help, at once" <help@example.com>', "two@example.com"],
            text="it works!",
            headers={"X-Entity-Ref-ID": "123456789"},
            tags=[{"name": "category", "value": "confirm_email"}, {"name": "beta"}],
            attachments=[
                {"filename": "bill.pdf", "content": list(PDF)},
                {"filename": "notes.txt", "content": base64.b64encode(b"notes").decode()},
                {
                    "filename": "logo.pdf",
                    "content": list(PDF),
                    "content_type": "application/pdf",
                    "content_id": "logo",
                },
            ],
        )
    )

    found = site.email(sent["id"])
    shown: Any = resend.Emails.get(sent["id"])
    assert shown["reply_to"] == ['"Help, at once" <help@example.com>', "two@example.com"]
    assert UUID(sent["id"])
    assert sent["http_headers"]["x-request-id"]
    assert (found["status"], found["category"]) == ("pending", "transactional")
    assert (found["from_name"], found["from_email"]) == ("Acme", "onboarding@example.com")
    assert (found["html"], found["text"]) == ("<strong>it works!</strong>", "it works!")
    assert found["reply_to"] == '"Help, at once" <help@example.com>, two@example.com'
    assert found["headers"] == {"X-Entity-Ref-ID": "123456789"}
    assert found["tags"] == ["category:confirm_email", "beta"]
    assert found["recipients"] == [
        ["to", "ann@example.org", "Ann"],
        ["to", "bo@example.org", "Lee, Bo"],
        ["cc", "carl@example.org", None],
        ["bcc", "dora@example.org", None],
    ]
    assert [(one["name"], one["type"], one.get("cid")) for one in found["files"]] == [
        ("bill.pdf", "application/pdf", None),
        ("notes.txt", "text/plain", None),
        ("logo.pdf", "application/pdf", "logo"),
    ]


def test_a_mail_is_shown_as_it_was_given(site: Served) -> None:
    given = hello(cc=["carl@example.org"], tags=[{"name": "order", "value": "81"}], text="hi")
    sent = resend.Emails.send(given)

    shown: Any = resend.Emails.get(sent["id"])

    assert shown["object"] == "email"
    assert (shown["id"], shown["last_event"]) == (sent["id"], "queued")
    assert shown["from"] == "Acme <onboarding@example.com>"
    assert (shown["to"], shown["cc"], shown["bcc"]) == (
        ["delivered@example.org"],
        ["carl@example.org"],
        [],
    )
    assert (shown["subject"], shown["html"]) == ("hello world", "<strong>it works!</strong>")
    assert (shown["text"], shown["scheduled_at"]) == ("hi", None)
    assert shown["tags"] == [{"name": "order", "value": "81"}]
    assert datetime.fromisoformat(shown["created_at"]).tzinfo is not None


def test_files_of_a_mail_are_shown_and_given(site: Served) -> None:
    logo: Any = {"filename": "né.pdf", "content": list(PDF), "content_id": "logo"}
    files: Any = [{"filename": "bill.pdf", "content": list(PDF + b"2")}, logo]
    sent = resend.Emails.send(hello(attachments=files))

    found: Any = resend.Emails.Attachments.list(email_id=sent["id"], params={"limit": 10})
    assert [(one["filename"], one["content_disposition"]) for one in found["data"]] == [
        ("bill.pdf", "attachment"),
        ("né.pdf", "inline"),
    ]
    one: Any = resend.Emails.Attachments.get(sent["id"], found["data"][1]["id"])
    assert (one["object"], one["size"], one["content_type"]) == (
        "attachment",
        len(PDF),
        "application/pdf",
    )
    key = {"Authorization": f"Bearer {site.keys.live}"}
    assert requests.get(one["download_url"], headers=key, timeout=60).content == PDF
    assert requests.get(one["download_url"], timeout=60).status_code == 401
    with pytest.raises(ResendError) as caught:
        resend.Emails.Attachments.get(sent["id"], str(UUID(int=1)))
    assert caught.value.error_type == "not_found"


def test_what_was_heard_last_is_told(site: Served) -> None:
    sent = resend.Emails.send(HELLO)
    site.rows(
        "SELECT r.id FROM mailqueue.retire_emails(ARRAY[%s]::uuid[], NULL, ARRAY['sent'],"
        " ARRAY[NULL]::text[], NULL, NULL) AS r",
        sent["id"],
    )

    assert resend.Emails.get(sent["id"])["last_event"] == "sent"

    site.rows(
        "INSERT INTO mailqueue.email_events (email_id, project_id, type, recipient_email)"
        " SELECT h.id, h.project_id, 'hard_bounce', h.recipient_email"
        " FROM mailqueue.email_history AS h WHERE h.id = %s RETURNING 1",
        sent["id"],
    )
    assert resend.Emails.get(sent["id"])["last_event"] == "bounced"


def test_a_mail_waits_for_its_instant_is_put_off_and_canceled(site: Served) -> None:
    at = datetime.now(UTC) + timedelta(hours=1)
    sent = resend.Emails.send(hello(scheduled_at=at.isoformat()))
    shown: Any = resend.Emails.get(sent["id"])
    assert shown["last_event"] == "scheduled"
    assert datetime.fromisoformat(shown["scheduled_at"]) == at

    later = at + timedelta(days=1)
    changed = resend.Emails.update({"id": sent["id"], "scheduled_at": later.isoformat()})
    assert (changed["object"], changed["id"]) == ("email", sent["id"])
    assert datetime.fromisoformat(site.email(sent["id"])["run_at"]) == later

    gone = resend.Emails.cancel(sent["id"])
    assert (gone["object"], gone["id"]) == ("email", sent["id"])
    assert resend.Emails.get(sent["id"])["last_event"] == "canceled"
    acts: list[Callable[[], object]] = [
        lambda: resend.Emails.cancel(sent["id"]),
        lambda: resend.Emails.update({"id": sent["id"], "scheduled_at": at.isoformat()}),
    ]
    for act in acts:
        with pytest.raises(ValidationError, match="cancelled"):
            act()


def test_a_mail_that_is_put_off_keeps_as_long_to_live_and_its_lane_is_told(site: Served) -> None:
    sent = resend.Emails.send(hello(scheduled_at="in 2 hours"))
    life = "SELECT expires_at - run_at FROM mailqueue.email_queue WHERE id = %s"
    before = site.rows(life, sent["id"])

    resend.Emails.update({"id": sent["id"], "scheduled_at": "in 1 min"})

    assert site.rows(life, sent["id"]) == before
    ((told,),) = site.rows(
        "SELECT count(*) FROM mailqueue.lane_signals AS s JOIN mailqueue.email_queue AS q"
        " ON q.lane_id = s.lane_id AND q.run_at = s.due_at AND s.emails = 0 WHERE q.id = %s",
        sent["id"],
    )
    assert told == 1


def test_mail_that_was_tried_is_not_put_off(site: Served) -> None:
    sent = resend.Emails.send(HELLO)
    site.rows("UPDATE mailqueue.email_queue SET attempts = 1 WHERE id = %s RETURNING 1", sent["id"])

    with pytest.raises(ValidationError, match="Only waiting emails"):
        resend.Emails.update({"id": sent["id"], "scheduled_at": "in 1 min"})


def test_a_batch_is_accepted_in_order(site: Served) -> None:
    done = resend.Batch.send([hello(to=[f"{n}@example.org"]) for n in range(100)])

    assert [site.email(one["id"])["to"] for one in done["data"][:2]] == [
        "0@example.org",
        "1@example.org",
    ]
    assert len({one["id"] for one in done["data"]}) == 100
    assert "errors" not in done


def test_the_same_key_and_mail_is_accepted_once(site: Served) -> None:
    key = str(uuid4())
    before = site.count()
    first = resend.Emails.send(HELLO, {"idempotency_key": key})
    again = resend.Emails.send(HELLO, {"idempotency_key": key})

    assert first["id"] == again["id"]
    assert site.count() == before + 1
    with pytest.raises(ResendError) as caught:
        resend.Emails.send(hello(subject="another"), {"idempotency_key": key})
    assert (caught.value.code, caught.value.error_type) == (409, "invalid_idempotent_request")


def test_the_same_key_and_batch_is_accepted_once(site: Served) -> None:
    before = site.count()
    key = "k" * 256
    first = resend.Batch.send([HELLO, HELLO], {"idempotency_key": key})
    again = resend.Batch.send([HELLO, HELLO], {"idempotency_key": key})

    assert [one["id"] for one in first["data"]] == [one["id"] for one in again["data"]]
    assert site.count() == before + 2
    with pytest.raises(ResendError) as caught:
        resend.Batch.send([HELLO], {"idempotency_key": key + "k"})
    assert (caught.value.code, caught.value.error_type) == (400, "invalid_idempotency_key")


def test_mail_of_a_test_key_goes_to_the_trap(site: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resend, "api_key", site.keys.test)

    assert site.email(resend.Emails.send(HELLO)["id"])["sender"] == "(test)"


def test_suppressed_mail_is_accepted_and_told_as_suppressed(site: Served) -> None:
    site.suppress("gone@example.org")

    sent = resend.Emails.send(hello(to=["gone@example.org"]))

    assert resend.Emails.get(sent["id"])["last_event"] == "suppressed"


def test_mail_is_listed_by_pages_in_both_directions(site: Served) -> None:
    ids = [resend.Emails.send(hello(cc=["carl@example.org"]))["id"] for _ in range(5)][::-1]

    first: Any = resend.Emails.list({"limit": 2})
    assert (first["object"], first["has_more"]) == ("list", True)
    assert [one["id"] for one in first["data"]] == ids[:2]
    second = resend.Emails.list({"limit": 2, "after": ids[1]})
    assert [one["id"] for one in second["data"]] == ids[2:4]
    back = resend.Emails.list({"limit": 2, "before": ids[3]})
    assert [one["id"] for one in back["data"]] == ids[1:3]
    assert back["has_more"]
    newest = resend.Emails.list({"limit": 2, "before": ids[1]})
    assert ([one["id"] for one in newest["data"]], newest["has_more"]) == (ids[:1], False)
    shown: Any = first["data"][0]
    assert (shown["to"], shown["cc"]) == (["delivered@example.org"], ["carl@example.org"])
    assert shown["from"] == "Acme <onboarding@example.com>"


def test_a_template_says_what_it_says_for_each(site: Served) -> None:
    site.add_template("order", subject="Order {{ number }}", html="<p>For {{ name }}</p>")
    variables = {"number": 81, "name": "Ann & Bo"}
    template: Any = {"id": "order", "variables": variables}

    sent = resend.Emails.send(hello(template=template, html=..., subject=...))

    shown: Any = resend.Emails.get(sent["id"])
    assert site.email(sent["id"])["template"]
    assert (shown["subject"], shown["html"]) == ("Order 81", "<p>For Ann &amp; Bo</p>")
    titled = resend.Emails.send(hello(template=template, html=..., subject="Mine"))
    shown = resend.Emails.get(titled["id"])
    assert (shown["subject"], shown["html"]) == ("Mine", "<p>For Ann &amp; Bo</p>")
    lacking: Any = {"id": "order", "variables": {"number": 81}}
    fault = refused(template=lacking, html=..., subject=...)
    assert (fault.code, fault.error_type) == (422, "validation_error")
    assert "name" in fault.message
    ((template_id,),) = site.rows("SELECT id FROM mailqueue.templates WHERE slug = 'order'")
    by_id: Any = {"id": str(template_id), "variables": variables}
    assert resend.Emails.send(hello(template=by_id, html=..., subject=...))["id"]


def test_the_asynchronous_library_does_the_same(site: Served) -> None:
    async def all_of_it() -> tuple[Any, Any, Any, Any]:
        at = datetime.now(UTC) + timedelta(hours=1)
        sent = await resend.Emails.send_async(hello(scheduled_at=at.isoformat()))
        await resend.Emails.update_async({"id": sent["id"], "scheduled_at": "in 3 hours"})
        shown = await resend.Emails.get_async(sent["id"])
        batch = await resend.Batch.send_async([HELLO, HELLO])
        gone = await resend.Emails.cancel_async(sent["id"])
        with pytest.raises(MissingRequiredFieldsError):
            await resend.Emails.send_async(hello(to=...))
        return sent, shown, batch, gone

    sent, shown, batch, gone = asyncio.run(all_of_it())

    assert sent["id"] == shown["id"] == gone["id"]
    assert len(batch["data"]) == 2
    assert site.email(sent["id"])["status"] == "cancelled"
