"""Addresses and texts of mailing lists, which are lists of contacts here. Pure.

The list with the address `dev@example.com` is named `dev__example_com`.
"""

from mailqueue.contacts.model import is_list_name
from mailqueue.core.address import InvalidAddress, parse_address
from mailqueue.core.errors import InvalidField

DIVIDER = " · "
"""Stands between name and description of a mailing list, which are one text here."""
_AT = "__"


def name_of(address: str) -> str | None:
    """Return the name of the list with an address; None if no list has such an address."""
    try:
        parsed = parse_address(address)
    except InvalidAddress:
        return None
    name = f"{parsed.local.lower()}{_AT}{parsed.domain.replace('.', '_')}"
    is_whole = is_list_name(name) and address_of(name) == parsed.key
    return name if is_whole else None


def address_of(name: str) -> str | None:
    """Return the address of a list; None if its name is not that of an address."""
    local, _, domain = name.rpartition(_AT)
    try:
        return parse_address(f"{local}@{domain.replace('_', '.')}").key
    except InvalidAddress:
        return None


def texts_of(stored: str | None) -> tuple[str, str]:
    """Return name and description of a mailing list."""
    name, divider, description = (stored or "").partition(DIVIDER)
    return (name, description) if divider else ("", name)


def stored_text(name: str, description: str) -> str | None:
    """Return name and description as they are stored.

    Raises:
        InvalidField: one of them has the characters between them.
    """
    for field, text in (("name", name), ("description", description)):
        if DIVIDER.strip() in text:
            raise InvalidField(field, f"must not contain {DIVIDER.strip()!r}")
    if not name:
        return description or None
    return f"{name}{DIVIDER}{description}"
