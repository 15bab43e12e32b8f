"""JSON in the documentation matches what the programs accept and return."""

import json
from dataclasses import fields
from urllib.parse import urlsplit

from mailqueue.api.table import ENDPOINTS
from mailqueue.contract.processes import Running
from tests.docs.reading import blocks, shell_lines


def requests() -> list[tuple[str, str]]:
    """Return path and body of every request made by curl."""
    return [
        (urlsplit(words[1]).path, words[words.index("-d") + 1])
        for block in blocks("sh")
        for words in shell_lines(block.text)
        if words[0] == "curl" and "-d" in words
    ]


def test_every_body_shown_is_one_the_api_takes() -> None:
    models = {each.path: each.request for each in ENDPOINTS if each.method == "POST"}

    assert requests()
    for path, body in requests():
        model = models[path]
        assert model is not None
        model.model_validate_json(body)


def test_what_up_prints_has_the_names_that_are_shown() -> None:
    (shown,) = (
        json.loads(block.text)
        for block in blocks("json")
        if block.page == "docs/getting-started.md"
    )

    assert list(shown) == [field.name for field in fields(Running)]
