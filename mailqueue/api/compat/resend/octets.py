"""Reads files that stand in JSON as lists of numbers, as Python's and Node's buffers come.

A file of 10 MB is ten million values in JSON. As base64 it is one. Pure.
"""

import base64
import re

import orjson

MANY_BYTES = 1_000
"""Of a list that is worth it."""
_SLICE = 256 * 1024
# A quote before it that is escaped would be within a text.
_LIST = re.compile(
    rb'(?<!\\)("(?:content|data)"[ \t\r\n]*:[ \t\r\n]*)\[([0-9, \t\r\n]{%d,})\]' % MANY_BYTES
)


def octets_as_text(body: bytes) -> bytes:
    """Return the JSON of a request with long lists of octets as base64; others stay as they are."""
    return _LIST.sub(_coded, body)


def _coded(found: re.Match[bytes]) -> bytes:
    numbers, octets, at = found[2], bytearray(), 0
    try:
        while at < len(numbers):
            end = numbers.find(b",", at + _SLICE)
            end = len(numbers) if end < 0 else end
            octets += bytes(orjson.loads(b"[%b]" % numbers[at:end]))
            at = end + 1
    except ValueError:  # no numbers, or no octets: the model says so
        return found[0]
    return b'%b"%b"' % (found[1], base64.b64encode(octets))
