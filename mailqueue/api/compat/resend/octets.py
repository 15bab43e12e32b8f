"""Convert files given as JSON lists of byte values, the form of Python's and Node's buffers.

A file of 10 MB is ten million JSON values, or one in base64. Pure.
"""

import base64
import re

import orjson

MANY_BYTES = 1_000
"""Shortest list that is converted, in bytes."""
_SLICE = 256 * 1024
# An escaped quote before it would be inside a string.
_LIST = re.compile(
    rb'(?<!\\)("(?:content|data)"[ \t\r\n]*:[ \t\r\n]*)\[([0-9, \t\r\n]{%d,})\]' % MANY_BYTES
)


def octets_as_text(body: bytes) -> bytes:
    """Return the JSON of a request with long lists of byte values as base64."""
    return _LIST.sub(_coded, body)


def _coded(match: re.Match[bytes]) -> bytes:
    numbers, octets, at = match[2], bytearray(), 0
    try:
        while at < len(numbers):
            end = numbers.find(b",", at + _SLICE)
            end = len(numbers) if end < 0 else end
            octets += bytes(orjson.loads(b"[%b]" % numbers[at:end]))
            at = end + 1
    except ValueError:  # not a list of byte values: the model reports it
        return match[0]
    return b'%b"%b"' % (match[1], base64.b64encode(octets))
