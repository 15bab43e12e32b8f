"""Resend's library raises its own errors for refused mail, naming the fault."""

from typing import Any
from uuid import UUID, uuid4

import pytest
import resend
from resend.exceptions import (
    InvalidApiKeyError,
    MissingRequiredFieldsError,
    RateLimitError,
    ResendError,
    ValidationError,
)

from tests.clients.resend.mails import HELLO, hello, refused
from tests.clients.serving import Served

pytestmark = pytest.mark.usefixtures("resend_here")


def test_a_strict_batch_is_accepted_as_a_whole_or_not(site: Served) -> None:
    before = site.count()
    for bad in (hello(to=["nobody"]), hello(subject=...), hello(template={"id": "none"}, html=...)):
        with pytest.raises(ResendError, match=r"emails\[1\]: ") as caught:
            resend.Batch.send([HELLO, bad, HELLO])
        assert caught.value.code == 422

    assert site.count() == before


def test_a_permissive_batch_says_which_were_refused_and_why(site: Served) -> None:
    before = site.count()
    emails = [hello(to=["nobody"]), HELLO, hello(subject=...), hello(headers={"From": "x"})]

    done: Any = resend.Batch.send(emails, {"batch_validation": "permissive"})

    assert len(done["data"]) == 1
    assert site.count() == before + 1
    assert [one["index"] for one in done["errors"]] == [0, 2, 3]
    assert "Invalid `to` field" in done["errors"][0]["message"]
    assert done["errors"][1]["message"] == "Missing `subject` field."


@pytest.mark.parametrize("count", [0, 101])
def test_a_batch_has_1_to_100_mails(count: int) -> None:
    with pytest.raises(ValidationError, match="1 to 100"):
        resend.Batch.send([HELLO] * count)


def test_a_refused_mail_leaves_its_key_to_be_used(site: Served) -> None:
    key = str(uuid4())
    with pytest.raises(ValidationError):
        resend.Emails.send(hello(to=["nobody"]), {"idempotency_key": key})

    assert resend.Emails.send(HELLO, {"idempotency_key": key})["id"]


def test_objects_of_other_projects_are_neither_shown_nor_changed(
    site: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = resend.Emails.send(hello(scheduled_at="in 1 hour"))["id"]
    monkeypatch.setattr(resend, "api_key", site.keys.other)

    assert resend.Emails.list()["data"] == []
    assert resend.Emails.list({"before": str(UUID(int=0))})["data"] == []
    for act in (
        lambda: resend.Emails.get(mine),
        lambda: resend.Emails.cancel(mine),
        lambda: resend.Emails.update({"id": mine, "scheduled_at": "in 1 min"}),
    ):
        with pytest.raises(ResendError) as caught:
            act()
        assert (caught.value.code, caught.value.error_type) == (404, "not_found")
    assert site.email(mine)["status"] == "pending"


def test_the_librarys_own_error_classes_come_out(
    site: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    for missing in ("from", "to", "subject", "html"):
        fault = refused(**{missing: ...})
        assert isinstance(fault, MissingRequiredFieldsError), missing
        assert missing in fault.message
    assert isinstance(refused(to=["nobody"]), ValidationError)
    assert isinstance(refused(to=[f"{n}@example.org" for n in range(51)]), ValidationError)

    monkeypatch.setattr(resend, "api_key", "re_123456789")
    assert isinstance(refused(), InvalidApiKeyError)
    monkeypatch.setattr(resend, "api_key", site.keys.reads)
    fault = refused()
    assert (fault.code, fault.error_type) == (401, "restricted_api_key")


@pytest.mark.usefixtures("no_request_waits")
def test_too_many_requests_are_told_when_to_come_again(
    site: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resend, "api_key", site.keys.slow)

    def hurry() -> None:
        for _ in range(200):
            resend.Emails.send(HELLO)

    with pytest.raises(RateLimitError) as caught:
        hurry()

    assert caught.value.error_type == "rate_limit_exceeded"
    assert int(caught.value.headers["retry-after"]) >= 1
    assert caught.value.headers["ratelimit-remaining"] == "0"
    assert int(caught.value.headers["ratelimit-limit"]) == 10


CANNOT: list[tuple[dict[str, Any], int, str, str]] = [
    ({"from": "nobody"}, 422, "invalid_from_address", "Invalid `from` field"),
    ({"to": ["a@example.com"] * 51}, 422, "validation_error", "at most 50 items"),
    ({"cc": ["x@"]}, 422, "validation_error", "Invalid `cc` field"),
    ({"reply_to": ["a@example.com", "b"]}, 422, "validation_error", "reply_to"),
    ({"topic_id": "t"}, 422, "validation_error", "topic_id"),
    ({"scheduled_at": "tomorrow at 9am"}, 422, "validation_error", "scheduled_at"),
    ({"scheduled_at": "in 31 days"}, 422, "validation_error", "30 days"),
    ({"headers": {"Message-ID": "<a@example.com>"}}, 422, "validation_error", "Message-ID"),
    ({"headers": {"X-Count": 1}}, 422, "validation_error", "headers.X-Count"),
    ({"subject": "a\r\nBcc: x@example.org"}, 422, "validation_error", "subject"),
    ({"tags": [{"name": "a b", "value": "c"}]}, 422, "validation_error", "ASCII letters"),
    ({"tags": [{"name": "a", "value": "c" * 257}]}, 422, "validation_error", "256"),
    ({"attachments": [{"filename": "x.pdf"}]}, 422, "invalid_attachment", "content"),
    ({"attachments": [{"content": "QQ=="}]}, 422, "invalid_attachment", "filename"),
    ({"attachments": [{"path": "http://127.0.0.1/x"}]}, 422, "invalid_attachment", "`path`"),
    (
        {"attachments": [{"filename": "x.pdf", "content": "*"}]},
        422,
        "invalid_attachment",
        "base64",
    ),
    (
        {"attachments": [{"filename": "x.exe", "content": "TVqQ"}]},
        422,
        "invalid_attachment",
        "not allowed",
    ),
    ({"template": {"id": "none"}}, 422, "validation_error", "html"),
    ({"template": {"id": "none"}, "html": ...}, 422, "validation_error", "no template"),
    ({"template": {"id": str(UUID(int=7))}, "html": ...}, 422, "validation_error", "no template"),
]


@pytest.mark.parametrize(("fields", "code", "name", "why"), CANNOT)
def test_what_cannot_be_done_is_refused_by_name(
    site: Served, fields: dict[str, Any], code: int, name: str, why: str
) -> None:
    before = site.count()

    fault = refused(**fields)

    assert (fault.code, fault.error_type) == (code, name)
    assert why in fault.message
    assert site.count() == before


def test_long_tags_are_kept_and_the_first_are_words(site: Served) -> None:
    tags = [{"name": f"n{n}", "value": "v" * 256} for n in range(21)]

    sent = resend.Emails.send(hello(tags=tags))

    assert resend.Emails.get(sent["id"])["tags"] == tags  # type: ignore[typeddict-item]
    assert site.email(sent["id"])["tags"] == [f"n{n}" for n in range(20)]


def test_a_project_that_names_its_senders_says_so(site: Served) -> None:
    allow = "UPDATE mailqueue.projects SET allowed_from = %s WHERE name = 'default' RETURNING 1"
    site.rows(allow, ["example.com"])
    try:
        fault = refused(**{"from": "ann@example.net"})
    finally:
        site.rows(allow, None)

    assert (fault.code, fault.error_type) == (403, "validation_error")
    assert "ann@example.net" in fault.message
