"""Find the recipients of a bounce with a library that knows many old servers. Never raises.

Not read by `mailqueue.mime.reader`: the library takes a message of the standard library. Only a
message that the reader has read within its limits comes here, and only its first bytes are parsed.
"""

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
# Exceptions the library has been seen to raise on hostile text; it documents none.
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
    """Return the delayed addresses and the permanently failed addresses that the library finds.

    The library parses the whole message: check nesting and size before calling.
    """
    try:
        # Its patterns are slowest on blank lines, which carry no information.
        octets = _BLANK_LINES.sub(b"\n\n", unified(raw[:MAX_BYTES]))
        message = email.message_from_bytes(octets, policy=policy.compat32)
        delayed, failed = all_failures(message)
    except _FAULTS:
        return [], []
    return _addresses(delayed), _addresses(failed - delayed)


def _addresses(addresses: Set[bytes]) -> list[str]:
    texts = (one.decode("utf-8", "replace").strip("<>'\" ") for one in addresses)
    return sorted(one for one in texts if _ADDRESS.fullmatch(one))[:100]
