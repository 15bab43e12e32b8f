"""JSON shown in the documentation is what the programs really take and give."""

import json
from dataclasses import fields

from mailqueue.api.sending_model import SendRequest
from mailqueue.everything import Running
from tests.docs.reading import blocks, shell_lines


def bodies() -> list[str]:
    """Give the body of every request made by curl."""
    return [
        words[words.index("-d") + 1]
        for block in blocks("sh")
        for words in shell_lines(block.text)
        if words[0] == "curl" and "-d" in words
    ]


def test_every_body_shown_is_one_the_api_takes() -> None:
    assert bodies()
    for body in bodies():
        assert SendRequest.model_validate_json(body).subject


def test_what_up_prints_has_the_names_that_are_shown() -> None:
    (shown,) = (json.loads(block.text) for block in blocks("json"))

    assert list(shown) == ["ready", *(field.name for field in fields(Running))]
