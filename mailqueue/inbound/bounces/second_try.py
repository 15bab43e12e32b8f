"""Asks a library with the patterns of many old servers whom a bounce names. Never raises."""

import email
import re
from collections.abc import Set
from email import policy
from email.errors import MessageError

from flufl.bounce import all_failures

from mailqueue.mime.reader import unified

MAX_BYTES = 32 * 1024
_BLANK_LINES = re.compile(rb"\n(?:[ \t]*\n){2,}")
_ADDRESS = re.compile(r"[^\s<>,;:\"()\[\]]{1,64}@[A-Za-z0-9._-]{1,255}")
# What a parser of hostile text raises; the library promises nothing.
_FAULTS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MessageError,
    RecursionError,
    TypeError,
    ValueError,
)


def named_by_library(raw: bytes) -> tuple[list[str], list[str]]:
    """Return the addresses it finds delayed, and those it finds failed for good.

    It parses the whole: what is nested or large beyond measure must not come here.
    """
    try:
        # Its patterns take longest for blank lines, which say nothing.
        octets = _BLANK_LINES.sub(b"\n\n", unified(raw[:MAX_BYTES]))
        message = email.message_from_bytes(octets, policy=policy.compat32)
        delayed, failed = all_failures(message)
    except _FAULTS:
        return [], []
    return _addresses(delayed), _addresses(failed - delayed)


def _addresses(found: Set[bytes]) -> list[str]:
    texts = (one.decode("utf-8", "replace").strip("<>'\" ") for one in found)
    return sorted(one for one in texts if _ADDRESS.fullmatch(one))[:100]
