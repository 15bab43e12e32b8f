"""The page of webhooks shows real requests, and code that verifies them."""

import json
import re
import time
from typing import Any

import jsonschema_rs
import pytest

from mailqueue.webhooks.model import TEST_TYPE, EventType
from mailqueue.webhooks.signing import headers_of, key_of, new_secret
from tests.rules.source import ROOT

PAGE = (ROOT / "docs" / "webhooks.md").read_text("utf-8")


def block(language: str) -> str:
    """Return the only block of a language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return str(found)


def test_the_example_fits_the_schema() -> None:
    check = jsonschema_rs.Draft202012Validator(
        json.loads(block("jsonschema")), validate_formats=True
    )

    check.validate(json.loads(block("javascript")))


def test_the_code_of_a_receiver_takes_what_we_sign_and_nothing_else() -> None:
    names: dict[str, Any] = {}
    exec(block("python"), names)
    secret, body = new_secret(), block("javascript").encode()
    signed = headers_of("msg-1", body, at=int(time.time()), keys=[key_of(secret)])
    headers = {name.lower(): text for name, text in signed}

    status, event = names["receive"](secret.reveal(), headers, body)

    assert status == 204
    assert event["type"] == "email.hard_bounce"
    assert names["receive"](secret.reveal(), headers, body + b" ") == (401, None)


@pytest.mark.parametrize("kind", [*EventType, TEST_TYPE])
def test_every_type_is_explained(kind: str) -> None:
    assert f"| `{kind}` |" in PAGE
