"""Parses mailboxes, and converts their domains to A-labels. Pure."""

import re
from collections.abc import Mapping
from typing import Any

from mailqueue.core.address import InvalidAddress, Mailbox, parse_address, parse_mailbox

ERASED_ADDRESS = "erased@erased.invalid"
"""Replaces the addresses of erased persons; a reserved domain that never receives mail (RFC 2606).
"""

_PIECE = r'(?:"(?:[^"\\]|\\.)*"|<[^<>]*>|[^,"<>])+'
_LIST = re.compile(rf"{_PIECE}(?:,{_PIECE})*")
_ONE = re.compile(_PIECE)
_MAILBOXES = frozenset({"recipient", "to", "cc", "bcc", "from_email", "bounce_address"})
_DOMAINS = frozenset({"domain", "allowed_from"})  # or patterns of addresses


def parse_mailboxes(text: str) -> tuple[Mailbox, ...]:
    """Parse mailboxes separated by commas; commas in quotes belong to a name.

    The same as SQL's check_mailboxes().

    Raises:
        InvalidAddress: one of them is not valid.
    """
    if "," not in text or not _LIST.fullmatch(text):
        return (parse_mailbox(text),)
    return tuple(parse_mailbox(each) for each in _ONE.findall(text))


def with_wire_domain(text: str) -> str:
    """Return a mailbox with its domain in A-labels; an invalid mailbox is returned unchanged."""
    if text.isascii():
        return text
    try:
        sent = parse_mailbox(text).address.sent
    except InvalidAddress:
        return text
    trimmed = text.strip(" \t")
    return f"{trimmed[: trimmed.rindex('<')]}<{sent}>" if trimmed.endswith(">") else sent


def with_wire_domains(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a message for SQL's enqueue(), a filter or settings with all domains in A-labels."""
    changed = {
        name: _wired(name, given)
        for name, given in message.items()
        if (name in _MAILBOXES or name in _DOMAINS) and not _is_ascii(given)
    }
    return {**message, **changed} if changed else message


def wire_domain(text: str) -> str:
    """Return a domain, or `*.` and a domain, in A-labels and lower case, without a leading `@`.

    An invalid domain is returned unchanged.
    """
    name = text.removeprefix("@")
    if name.isascii():
        return name.lower()
    prefix = "*." if name.startswith("*.") else ""
    try:
        return prefix + parse_address(f"x@{name.removeprefix(prefix)}").domain
    except InvalidAddress:
        return name


def _wired(name: str, value: object) -> object:
    if isinstance(value, list | tuple):
        return [_wired(name, one) for one in value]
    if not isinstance(value, str):
        return value
    is_domain = name in _DOMAINS and "@" not in value[1:]
    return wire_domain(value) if is_domain else with_wire_domain(value)


def _is_ascii(value: object) -> bool:
    if isinstance(value, list | tuple):
        return all(not isinstance(one, str) or one.isascii() for one in value)
    return not isinstance(value, str) or value.isascii()
