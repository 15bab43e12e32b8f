"""Decodes the character references of HTML. Pure; never raises."""

import html
import re

# More digits than any character needs; int() refuses thousands of them.
_TOO_LONG = re.compile(r"&#(?:[0-9]{20,}|[xX][0-9a-fA-F]{20,});?")


def unescaped(text: str) -> str:
    """Return the text with character references replaced; invalid ones become U+FFFD.

    `html.unescape` raises ValueError for a number of more than 4,300 digits.
    """
    return html.unescape(_TOO_LONG.sub("\ufffd", text))
