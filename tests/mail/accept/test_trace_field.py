"""The field traceparent of a finished message is kept with its mail, and not sent on."""

from typing import Any

import pytest

from mailqueue.mail.accept.raw import PreparedRaw, RawEmail, prepared
from tests.mail.accept.messages import simple

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
OTHER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b8-01"


def ready(*fields: str, **more: Any) -> PreparedRaw:
    octets = simple(*(field.encode() for field in fields))
    return prepared(RawEmail(octets, ("ann@example.com",), **more))


def email_of(message: PreparedRaw) -> dict[str, Any]:
    email = message.documents[0]["email"]
    assert isinstance(email, dict)
    return email


def test_the_context_of_a_message_is_kept_and_removed() -> None:
    message = ready(f"Traceparent: {TRACE}", "tracestate: a=b", "X-Odd: stays")

    assert email_of(message)["custom_data"] == {"traceparent": TRACE}
    assert b"race" not in message.octets
    assert b"X-Odd: stays" in message.octets


def test_what_the_message_says_of_custom_data_wins() -> None:
    said = f'X-Mailqueue-Custom-Data: {{"order": 7, "traceparent": "{OTHER}"}}'

    assert email_of(ready(said, f"traceparent: {TRACE}"))["custom_data"]["traceparent"] == OTHER


@pytest.mark.parametrize(
    "fields", [("traceparent: nonsense",), (f"traceparent: {TRACE}", f"traceparent: {OTHER}")]
)
def test_a_field_that_is_malformed_or_stands_twice_is_ignored(fields: tuple[str, ...]) -> None:
    assert "custom_data" not in email_of(ready(*fields))


def test_a_client_that_tries_again_under_another_span_sends_the_same_message() -> None:
    first = ready(f"traceparent: {TRACE}", is_once=True)
    again = ready(f"traceparent: {OTHER}", is_once=True)

    assert email_of(first)["idempotency_key"] == email_of(again)["idempotency_key"]
    assert email_of(first)["text"] == email_of(again)["text"]
