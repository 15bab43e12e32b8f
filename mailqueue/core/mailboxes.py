"""Reads several mailboxes from one text: `Ann <ann@example.com>, bo@example.com`. Pure."""

import re

from mailqueue.core.address import Mailbox, parse_mailbox

_PIECE = r'(?:"(?:[^"\\]|\\.)*"|<[^<>]*>|[^,"<>])+'
_LIST = re.compile(rf"{_PIECE}(?:,{_PIECE})*")
_ONE = re.compile(_PIECE)


def parse_mailboxes(text: str) -> tuple[Mailbox, ...]:
    """Read mailboxes with commas between them; those within quotes are of a name.

    As SQL's check_mailboxes() does.

    Raises:
        InvalidAddress: one of them is none.
    """
    if "," not in text or not _LIST.fullmatch(text):
        return (parse_mailbox(text),)
    return tuple(parse_mailbox(each) for each in _ONE.findall(text))
