"""The cost of refusing a request with many values: at most twenty errors are built."""

from typing import Any

import orjson
import pytest
from pydantic import BaseModel, ValidationError

from mailqueue.api.compat.postmark.model import PostmarkMessage
from mailqueue.api.compat.resend.model import ResendEmail
from mailqueue.api.compat.sendgrid.model import SendGridMail
from mailqueue.api.http import validation
from mailqueue.api.http.validation import count_values, validated, validated_json
from mailqueue.api.sending.schema import BatchRequest, SendRequest, TemplateBatchRequest
from mailqueue.core.errors import InvalidField

MANY = 30_000
INSTANT = "2030-05-01T08:00:00+02:00"
ODD = {f"f{n}": 1 for n in range(MANY)}
FEWER = {f"f{n}": 1 for n in range(90)}
HELLO = {"to": ["ann@example.com"], "subject": "Hello", "text_body": "Hello"}
BATCH = {"subject": "Hello", "text_body": "Hello"}
ONE = {"email": "ann@example.com"}
RESEND = {"from": "a@example.com", "to": "b@example.com"}
POSTMARK = {"From": "a@example.com", "To": "b@example.com"}
UNKNOWN, WRONG, LONG = "extra_forbidden", "string_type", "too_long"


def grid(one: dict[str, Any], times: int) -> dict[str, Any]:
    said = [{"type": "text/plain", "value": "x"}]
    return {"from": ONE, "content": said, "personalizations": [{"to": [ONE]} | one] * times}


def batch(one: dict[str, Any]) -> dict[str, Any]:
    return BATCH | {"recipients": [one] * 9_000}


def faults_of(model: type[BaseModel], document: Any) -> list[tuple[str, str]]:
    """Return the errors, found by either way of parsing."""
    body = orjson.dumps(document)
    count = count_values(body)
    with pytest.raises(ValidationError) as of_bytes:
        validated_json(model, body, count)
    with pytest.raises(ValidationError) as of_document:
        validated(model, document, count)
    one, other = (
        [(each["type"], ".".join(map(str, each["loc"]))) for each in refused.value.errors()]
        for refused in (of_bytes, of_document)
    )
    assert one == other
    return one


@pytest.mark.parametrize(
    ("model", "document", "first"),
    [
        (SendRequest, HELLO | ODD, (UNKNOWN, "f0")),
        (SendRequest, HELLO | {"tags": [1] * MANY}, (WRONG, "tags.0")),
        (SendRequest, HELLO | {"tags": ["a"] * MANY}, (LONG, "tags")),
        (SendRequest, HELLO | {"headers": ODD}, (LONG, "headers")),
        (SendRequest, HELLO | {"attachments": [{"z": 1}] * MANY}, (UNKNOWN, "attachments.0.z")),
        (BatchRequest, batch(ONE | {"z": 1}), (UNKNOWN, "recipients.0.z")),
        (BatchRequest, batch({"email": 1}), (WRONG, "recipients.0.email")),
        (
            TemplateBatchRequest,
            {"template_slug": "x", "recipients": [ONE] * 4_000 + [ONE | {"z": {}}]},
            (UNKNOWN, "recipients.4000.z"),
        ),
        (ResendEmail, RESEND | ODD, (UNKNOWN, "f0")),
        (PostmarkMessage, POSTMARK | ODD, (UNKNOWN, "f0")),
        (SendGridMail, grid({"headers": FEWER}, 900), (WRONG, "personalizations.0.headers.f0")),
        (SendGridMail, grid(FEWER, 900), (UNKNOWN, "personalizations.0.f0")),
    ],
)
def test_no_more_faults_are_made_than_are_told(
    model: type[BaseModel], document: Any, first: tuple[str, str]
) -> None:
    found = faults_of(model, document)

    assert found[0] == first
    assert len(found) <= 20 + len(model.model_fields)


def test_a_request_of_many_values_is_read_as_one_of_few_is() -> None:
    document = HELLO | {
        "expires_at": INSTANT,
        "cc": "bob@example.com",
        "custom_data": {"rows": [[n, str(n), None, 1.5, {"a": []}] for n in range(3_000)]},
    }
    body = orjson.dumps(document)

    count = count_values(body)

    assert count > validation.MANY_VALUES
    assert validated_json(SendRequest, body, count) == SendRequest.model_validate_json(body)


def test_other_names_of_a_field_are_known_in_a_request_of_many_values() -> None:
    document = {"to": "a@example.com", "subject": "x", "html": "x", "run_at": INSTANT}
    body = orjson.dumps(document | {"custom_data": {"rows": list(range(9_000))}})

    assert validated_json(SendRequest, body, count_values(body)).html_body == "x"


@pytest.mark.parametrize(
    ("document", "field"),
    [
        (HELLO | {"custom_data": {"a": [[]] * 300_000}}, "custom_data"),
        (HELLO | {"tags": ["a"] * 600_000}, "tags"),
        (HELLO | {f"f{n}": 1 for n in range(600_000)}, "body"),
    ],
)
def test_a_request_of_too_many_values_is_refused_by_its_field_and_never_read(
    document: Any, field: str
) -> None:
    with pytest.raises(InvalidField, match="too many values") as refused:
        count_values(orjson.dumps(document))

    assert refused.value.field == field
