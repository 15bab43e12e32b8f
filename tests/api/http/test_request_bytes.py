"""Files given as JSON lists of numbers are read without building the lists."""

import base64
import json
from typing import Any

import pytest

from mailqueue.api.compat.resend.model import ResendEmail
from mailqueue.api.compat.resend.octets import octets_as_text

FILE = bytes(range(256)) * 4_000


def read(document: Any) -> Any:
    return json.loads(octets_as_text(json.dumps(document).encode()))


@pytest.mark.parametrize(
    "wrap", [lambda found: found, lambda found: {"type": "Buffer", "data": found}]
)
def test_a_list_of_octets_is_read_as_base64(wrap: Any) -> None:
    attachment = {"filename": "a.pdf", "content": wrap(list(FILE))}

    found = read({"to": "a@example.com", "attachments": [attachment, {"content": [1, 2]}]})

    first, second = ResendEmail.model_validate(found).attachments or []
    assert base64.b64decode(first.attached()["content"]) == FILE
    assert second.content == [1, 2], "a short one stays as it is"


@pytest.mark.parametrize(
    "document",
    [
        {"content": [256] * 2_000},
        {"html": json.dumps({"content": [1] * 2_000})},
        {"text": '"content": ' + str([1] * 2_000)},
        {"other": [1] * 2_000},
        {"content": [[1] * 10] * 2_000},
    ],
)
def test_what_is_no_file_stays_as_it_is(document: Any) -> None:
    assert read(document) == document
