"""Redacts credentials in texts of servers, in each encoding in which one may repeat them. Pure."""

import base64
import html
import json
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

from mailqueue.adapters.sending.outcomes import DETAIL_CHARACTERS
from mailqueue.core.secret import Secret

REDACTED = "***"
MIN_PART = 6
"""Shortest beginning of a credential, in characters, that is redacted at the end of a cut text."""
MIN_DIGITS = 8
"""Fewest base64 digits that a credential determines for it to be looked for in base64."""
_DIGITS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=%")


def redacted(text: str, secrets: Iterable[Secret]) -> str:
    """Return a text with `***` in place of each secret.

    A text of DETAIL_CHARACTERS was cut there, perhaps within a secret: its beginning is redacted.
    """
    known = [secret.reveal() for secret in secrets if secret]
    # Of all secrets together: one may be a part of another.
    plain = sorted({form for one in known for form in _written(one)}, key=len, reverse=True)
    encoded = list(dict.fromkeys(form for one in known for form in _in_base64(one)))
    is_cut = len(text) >= DETAIL_CHARACTERS
    if is_cut:
        text = _without_beginning(text, plain, is_whole=True)
    for form in plain:
        text = text.replace(form, REDACTED)
    for form in encoded:
        text = _without_word(text, form)
    return _without_beginning(text, encoded) if is_cut else text


def _written(secret: str) -> Iterator[str]:
    """Yield a secret as it is, in URLs, in JSON and in HTML."""
    in_json = json.dumps(secret)[1:-1]
    for form in (
        secret,
        quote(secret, safe=""),
        quote(secret),
        quote_plus(secret),
        json.dumps(secret, ensure_ascii=False)[1:-1],
        in_json,
        in_json.replace("/", "\\/"),
        html.escape(secret),
    ):
        yield form
        yield _lower_escapes(form)


def _lower_escapes(text: str) -> str:
    """Return a text with the digits of its percent encoding in lower case."""
    first, *rest = text.split("%")
    return "%".join([first, *(part[:2].lower() + part[2:] for part in rest)])


def _in_base64(secret: str) -> Iterator[str]:
    """Yield the digits that a secret determines, alone and behind one or two other bytes."""
    octets = secret.encode()
    for before in range(3):
        digits = base64.b64encode(bytes(before) + octets).decode().rstrip("=")
        # Digits at the edges depend on the neighbours too.
        known = digits[-(-before * 8 // 6) : (before + len(octets)) * 8 // 6]
        if len(known) < MIN_DIGITS:
            continue
        in_urls = known.replace("+", "-").replace("/", "_")
        yield from (known, in_urls, quote(known, safe=""), known.replace("/", "\\/"))


def _without_word(text: str, digits: str) -> str:
    """Return a text without the base64 words that contain these digits."""
    while (start := text.find(digits)) >= 0:
        end = start + len(digits)
        while start > 0 and text[start - 1] in _DIGITS:
            start -= 1
        while end < len(text) and text[end] in _DIGITS:
            end += 1
        text = text[:start] + REDACTED + text[end:]
    return text


def _without_beginning(text: str, forms: Iterable[str], *, is_whole: bool = False) -> str:
    """Return a text without the longest beginning of a secret at its end, `is_whole` or not."""
    longest = 0
    for form in forms:
        for size in range(len(form) if is_whole else len(form) - 1, MIN_PART - 1, -1):
            if size <= longest:
                break
            if text.endswith(form[:size]):
                longest = size
    return text[:-longest] + REDACTED if longest else text
