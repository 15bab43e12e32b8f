"""The topic of an email is accepted by every interface, stored, and shown after it was sent."""

import functools
import json
import smtplib
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.whole.running import Up, eventually

pytestmark = pytest.mark.timeout(300)

MESSAGE = (
    b"From: shop@example.com\r\nTo: ann@example.com\r\nSubject: Hello\r\n"
    b"X-Mailqueue-Topic: receipts\r\n\r\nHello\r\n"
)
MAIL = {"subject": "Hello", "text_body": "Hello", "topic": "receipts"}
RESEND = {"from": "shop@example.com", "subject": "Hello", "text": "Hello", "topic_id": "receipts"}


@functools.cache
def live_key(up: Up) -> str:
    key: str = up.home.json("key", "create", "topics")["key"]
    return key


def asked(up: Up, path: str, body: Any = None, **headers: str) -> Any:
    """Send a request to the API and return its response."""
    given = {"Content-Type": "application/json", "X-API-Key": live_key(up)}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{up.ready['api']}{path}", data, headers or given)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def by_insert(up: Up, to: str, folder: Path) -> None:
    up.rows(
        "INSERT INTO mailqueue.email_queue (recipient_email, subject, text_body, topic)"
        " VALUES (%s, 'Hello', 'Hello', 'receipts') RETURNING id",
        to,
    )


def by_function(up: Up, to: str, folder: Path) -> None:
    options = '{"topic": "receipts", "idempotency_key": "k-1"}'
    call = (
        "SELECT mailqueue.enqueue(recipient => %s, subject => 'Hello', text => 'x', options => %s)"
    )
    up.rows(call, to, options)


def by_batch(up: Up, to: str, folder: Path) -> None:
    message = {"recipient": to, "subject": "Hello", "text": "Hello", "topic": "receipts"}
    up.rows("SELECT mailqueue.enqueue_batch('default', %s)", json.dumps([message]))


def by_http(up: Up, to: str, folder: Path) -> None:
    asked(up, "/v1/send", MAIL | {"to": [to]})


def by_http_batch(up: Up, to: str, folder: Path) -> None:
    asked(up, "/v1/send/batch", MAIL | {"recipients": [{"email": to}]})


def by_resend(up: Up, to: str, folder: Path) -> None:
    key = live_key(up)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    asked(up, "/emails", RESEND | {"to": to}, **headers, **{"User-Agent": "resend-node:6"})


def by_command(up: Up, to: str, folder: Path) -> None:
    words = ("--to", to, "--subject", "Hello", "--text", "Hello", "--topic", "receipts")
    done = up.home.run("send", *words)
    assert done.returncode == 0, done.stderr


def by_file(up: Up, to: str, folder: Path) -> None:
    people = folder / "people.csv"
    people.write_text(f"email\n{to}\n")
    text = folder / "text.j2"
    text.write_text("Hello")
    words = ("--subject", "Hello", "--text-template-file", str(text), "--topic", "receipts")
    done = up.home.run("enqueue", str(people), *words)
    assert done.returncode == 0, done.stderr


def by_smtp(up: Up, to: str, folder: Path) -> None:
    context = ssl.create_default_context(cafile=str(up.home.data / "submission.pem"))
    with smtplib.SMTP("localhost", urlsplit(up.ready["submission"]).port or 0) as client:
        client.starttls(context=context)
        client.login("apikey", live_key(up))
        client.sendmail("shop@example.com", [to], MESSAGE)


@pytest.mark.parametrize(
    "way",
    [
        *(by_insert, by_function, by_batch, by_http, by_http_batch),
        *(by_resend, by_command, by_file, by_smtp),
    ],
)
def test_a_topic_stays_with_its_email(
    shared_up: Up, way: Callable[[Up, str, Path], None], tmp_path: Path
) -> None:
    to = f"ann@{way.__name__.replace('_', '-')}.example"

    way(shared_up, to, tmp_path)

    query = "SELECT id, status, topic FROM mailqueue.email_history WHERE recipient_email = %s"
    ((email_id, status, topic),) = eventually(lambda: shared_up.rows(query, to))
    assert (status, topic) == ("sent", "receipts")
    assert asked(shared_up, f"/v1/emails/{email_id}")["topic"] == "receipts"
    view = "SELECT topic FROM mailqueue.emails WHERE id = %s"
    assert shared_up.rows(view, email_id) == [("receipts",)]


def test_a_topic_stays_with_an_email_that_is_sent_once_more(shared_up: Up, tmp_path: Path) -> None:
    to = "ann@again.example"
    by_insert(shared_up, to, tmp_path)
    query = "SELECT id FROM mailqueue.email_history WHERE recipient_email = %s"
    ((email_id,),) = eventually(lambda: shared_up.rows(query, to))

    done = shared_up.home.run("email", "resend", str(email_id), "--reason", "deleted", "--yes")

    assert done.returncode == 0, done.stderr
    topics = "SELECT topic FROM mailqueue.email_history WHERE recipient_email = %s"
    eventually(lambda: shared_up.rows(topics, to) == [("receipts",)] * 2)


def test_emails_of_one_key_that_differ_in_the_topic_are_two(shared_up: Up) -> None:
    body = MAIL | {"to": ["ann@keys.example"], "idempotency_key": "k-2"}
    first = asked(shared_up, "/v1/send", body)

    assert asked(shared_up, "/v1/send", body)["id"] == first["id"]
    with pytest.raises(urllib.error.HTTPError) as refused:
        asked(shared_up, "/v1/send", body | {"topic": "news"})
    assert "was used for another email" in refused.value.read().decode()


def test_a_topic_that_is_too_long_is_refused_in_the_words_of_each_api(shared_up: Up) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        asked(shared_up, "/v1/send", MAIL | {"to": ["ann@long.example"], "topic": "x" * 101})
    key = live_key(shared_up)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    with pytest.raises(urllib.error.HTTPError) as refused_too:
        asked(
            shared_up, "/emails", RESEND | {"to": "a@b.example", "topic_id": "x" * 101}, **headers
        )

    assert '"topic"' in refused.value.read().decode()
    assert "topic_id" in refused_too.value.read().decode()
