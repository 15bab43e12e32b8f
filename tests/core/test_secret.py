"""A secret is not shown by printing, formatting or logging."""

import json

import pytest

from mailqueue.core.secret import Secret


def test_a_secret_shows_as_stars_everywhere() -> None:
    secret = Secret("hunter2")

    shown = [repr(secret), str(secret), f"{secret}", f"{secret!r:>5}", f"{[secret]}"]

    assert "hunter2" not in "".join(shown)
    assert str(secret) == "***"
    assert secret.reveal() == "hunter2"


def test_a_secret_is_not_written_by_the_json_writer() -> None:
    secret = Secret("hunter2")

    with pytest.raises(TypeError):
        json.dumps(secret)


def test_secrets_compare_by_their_text() -> None:
    assert Secret("a") == Secret("a")
    assert Secret("a") != Secret("b")
    text: object = "a"
    assert Secret("a") != text
    assert not Secret("")
