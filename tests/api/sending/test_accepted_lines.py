"""Mail with correlation ids has a log line once it is committed, whatever the way in."""

import json
from io import BytesIO
from typing import Any

import pytest

from mailqueue.api.http import store as answers_store
from mailqueue.core.errors import Unavailable
from mailqueue.mail.accept import log_lines
from mailqueue.mail.accept.log_lines import MAX_LINES
from tests.api.support.calling import HELLO, Calling
from tests.logged import log_of

pytestmark = pytest.mark.anyio

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
TRACED = {
    "traceparent": TRACE,
    "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
    "span_id": "00f067aa0ba902b7",
}
ORDER = {"custom_data": {"correlation_id": "order-81", "note": "annabel@example.com"}}
MAIL = HELLO | ORDER | {"to": ["Anna Bell <annabel@example.com>"]}


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> BytesIO:
    return log_of(log_lines, monkeypatch)


def lines(written: BytesIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in written.getvalue().splitlines()]


async def test_an_email_with_ids_has_one_line_with_a_masked_recipient(
    api: Calling, written: BytesIO
) -> None:
    mail = MAIL | {"category": "bills", "priority": "high"}
    sent = (await api.send(mail, traceparent=TRACE)).json()
    await api.send()

    (line,) = lines(written)
    assert line.pop("timestamp")
    assert line == TRACED | {
        "event": "email.accepted",
        "level": "info",
        "email_id": sent["id"],
        "project": "default",
        "status": "queued",
        "recipient": "ann***@example.com",
        "category": "bills",
        "priority": "high",
        "correlation_id": "order-81",
    }
    assert b"annabel" not in written.getvalue().lower()


async def test_repeated_and_refused_requests_have_no_line(api: Calling, written: BytesIO) -> None:
    for _ in range(2):
        await api.send(MAIL, Idempotency_Key="81")
    assert (await api.send(MAIL | {"to": ["nowhere"]})).status_code == 422

    assert len(lines(written)) == 1


def batch(count: int) -> dict[str, Any]:
    recipients = [{"email": f"annabel{n}@example.com"} | ORDER for n in range(count)]
    return {"subject": "Hello", "text_body": "Hi", "recipients": recipients}


async def test_emails_of_a_batch_have_its_id_and_many_have_one_line_together(
    api: Calling, written: BytesIO
) -> None:
    few = (await api.post("/v1/send/batch", batch(MAX_LINES))).json()
    many = (await api.post("/v1/send/batch", batch(MAX_LINES + 1), traceparent=TRACE)).json()

    *each, together = lines(written)
    assert [line["email_id"] for line in each] == few["email_ids"]
    assert {line["batch_id"] for line in each} == {few["batch_id"]}
    assert {line["recipient"] for line in each} == {"ann***@example.com"}
    assert together["event"] == "emails.accepted"
    assert (together["batch_id"], together["emails"]) == (many["batch_id"], MAX_LINES + 1)
    assert together.items() >= (TRACED | {"correlation_id": "order-81"}).items()


async def test_what_is_rolled_back_has_no_line(
    api: Calling, written: BytesIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lost(*_: object, **__: object) -> None:
        raise Unavailable("the connection is lost")

    async def asked() -> int:
        return (await api.post("/v1/send/batch", batch(1), Idempotency_Key="81")).status_code

    with monkeypatch.context() as patched:
        patched.setattr(answers_store, "store_response", lost)
        assert (await asked(), lines(written)) == (503, [])

    assert (await asked(), len(lines(written))) == (202, 1)
    assert (await asked(), len(lines(written))) == (202, 1)  # the stored response


async def test_emails_of_compatible_apis_have_lines(api: Calling, written: BytesIO) -> None:
    mail = {"from": "shop@example.com", "subject": "x", "text": "x"}
    mails = [mail | {"to": [f"{name}@example.com"]} for name in ("annabel", "bobby")]
    headers = {"Authorization": f"Bearer {api.key}", "traceparent": TRACE}

    for more in ({}, {"Idempotency-Key": "81"}):
        answer = await api.http.post("/emails/batch", json=mails, headers=headers | more)
        assert answer.status_code == 200, answer.text

        found = lines(written)[-2:]
        assert [one["email_id"] for one in found] == [one["id"] for one in answer.json()["data"]]
        assert [one["recipient"] for one in found] == ["ann***@example.com", "bob***@example.com"]
    assert len(lines(written)) == 4


async def test_each_email_that_a_request_is_sent_as_has_a_line(
    api: Calling, written: BytesIO
) -> None:
    names = ("annabel", "bobby")
    mail = {
        "from": {"email": "shop@example.com"},
        "subject": "x",
        "content": [{"type": "text/plain", "value": "x"}],
        "personalizations": [{"to": [{"email": f"{name}@example.com"}]} for name in names],
    }
    headers = {"Authorization": f"Bearer {api.key}", "traceparent": TRACE}
    answer = await api.http.post("/v3/mail/send", json=mail, headers=headers)
    assert answer.status_code == 202, answer.text

    found = [line["recipient"] for line in lines(written)]
    assert found == ["ann***@example.com", "bob***@example.com"]
