"""Credentials are redacted in every encoding in which a server may repeat them."""

import base64
import html
import json
from collections.abc import Callable, Mapping
from urllib.parse import quote, quote_plus

import pytest

from mailqueue.adapters.sending.outcomes import DETAIL_CHARACTERS
from mailqueue.adapters.sending.redaction import redacted
from mailqueue.core.secret import Secret

KEY = 'key-7/f+a=3 <"q">é&'
ENCODINGS: Mapping[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "in a URL": lambda text: quote(text, safe=""),
    "in a path": quote,
    "in a form": quote_plus,
    "in a URL, in lower case": lambda text: _lowered(quote(text, safe="")),
    "in JSON": lambda text: json.dumps(text)[1:-1],
    "in JSON with UTF-8": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "in JSON of PHP": lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    "in HTML": html.escape,
    "in base64": lambda text: base64.b64encode(text.encode()).decode(),
    "in base64 of URLs": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "in base64 in a URL": lambda text: quote(base64.b64encode(text.encode()), safe=""),
    "as Basic authentication": lambda text: base64.b64encode(f"api:{text}".encode()).decode(),
    "behind a letter": lambda text: base64.b64encode(f"u{text}:x".encode()).decode(),
    "between others": lambda text: base64.b64encode(f"us{text}:more".encode()).decode(),
}


def _lowered(text: str) -> str:
    return "".join(
        part if n == 0 else "%" + part[:2].lower() + part[2:]
        for n, part in enumerate(text.split("%"))
    )


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_key_that_is_repeated_is_redacted(encoding: str) -> None:
    shown = ENCODINGS[encoding](KEY)

    assert redacted(f"bad {shown}, twice {shown}!", [Secret(KEY)]) == "bad ***, twice ***!"


# The beginning of others depends on what is before the key.
ALONE = [one for one in ENCODINGS if one not in ("as Basic authentication", "behind a letter")][:-1]


@pytest.mark.parametrize("encoding", ALONE)
@pytest.mark.parametrize("left", [6, 9, 12])
def test_the_beginning_of_a_key_at_the_end_of_a_cut_text_is_redacted(
    encoding: str, left: int
) -> None:
    secret = "sk_live_0123456789/abcdefghij"
    shown = ENCODINGS[encoding](secret)
    text = "x" * (DETAIL_CHARACTERS - left - 1) + " " + shown[:left]

    found = redacted(text, [Secret(secret)])

    assert found.endswith(" ***")


def test_other_texts_stay() -> None:
    text = "key-8 is not known; YWJj, aGVsbG8gd29ybGQ= and %2F" + "y" * DETAIL_CHARACTERS

    assert redacted(text, [Secret(KEY), Secret(""), Secret("a1")]) == text


def test_a_key_that_begins_another_key_leaves_nothing_of_it() -> None:
    keys = [Secret("token-12"), Secret("token-12-of-a-session")]

    assert redacted("token-12-of-a-session, token-12", keys) == "***, ***"
    assert redacted(f"{'x' * (DETAIL_CHARACTERS - 14)} token-12-of-a", keys).endswith("x ***")
